/** What this process has used so far: user and system time of all its threads. */
export function cpuSeconds(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
}

/** The most memory it ever had. */
export function rssMiB(): number {
  return Math.round(process.resourceUsage().maxRSS / 1024);
}
