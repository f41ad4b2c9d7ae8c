/**
 * What a connector's process may know of the daemon's environment: an allow-list, and what its definition declares. A variable
 * that changes how a program is loaded is refused even when declared: it would be code of somebody else under our user.
 */
const inherited: readonly string[] = [
  ...['PATH', 'HOME', 'USER', 'LOGNAME', 'SHELL', 'TERM', 'LANG', 'LANGUAGE', 'TZ', 'TMPDIR', 'TMP', 'TEMP'],
  ...['SYSTEMROOT', 'SYSTEMDRIVE', 'COMSPEC', 'PATHEXT', 'WINDIR', 'USERPROFILE', 'APPDATA', 'LOCALAPPDATA'],
];

const dangerous: readonly RegExp[] = [
  /^(LD|DYLD|DACAPO|TUTTI)_/i,
  /^(PATH|PATHEXT|COMSPEC|SHELL|HOME|IFS|ENV|BASH_ENV|ZDOTDIR|PROMPT_COMMAND|SHELLOPTS|BASHOPTS)$/i,
  /^(NODE_OPTIONS|NODE_PATH|NODE_EXTRA_CA_CERTS|NODE_TLS_REJECT_UNAUTHORIZED|NODE_REPL_EXTERNAL_MODULE)$/i,
  /^(PYTHONPATH|PYTHONSTARTUP|PYTHONHOME|PYTHONINSPECT|PERL5LIB|PERL5OPT|RUBYLIB|RUBYOPT|CLASSPATH|JAVA_TOOL_OPTIONS)$/i,
  /^(GIT_.*|GCONV_PATH|LOCPATH|NLSPATH|MALLOC_.*|GLIBC_TUNABLES|npm_config_.*)$/i,
];

/** Why a declared variable can't be given to a child, or `undefined` when it can. */
export function refusedVariable(name: string, value: string): string | undefined {
  if (!/^[A-Za-z_][A-Za-z0-9_]{0,127}$/.test(name)) return `"${name.slice(0, 40)}" is no name of a variable`;
  if (dangerous.some((pattern) => pattern.test(name))) return `${name} decides how programs are loaded: remove it`;
  if (value.includes('\0') || value.length > 32_768) return `the value of ${name} holds a NUL or is too long`;
  return undefined;
}

/** The environment of a child. Throws a TypeError that names the variable when one is refused. */
export function childEnv(
  declared: Readonly<Record<string, string>>,
  own: Readonly<Record<string, string | undefined>>,
): Record<string, string> {
  const env = new Map<string, string>();
  for (const [name, value] of Object.entries(own)) {
    const known = inherited.includes(name.toUpperCase()) || /^LC_[A-Z]+$/.test(name);
    // A shell function exported by bash is code in a value.
    if (known && value !== undefined && !value.startsWith('()')) env.set(name, value);
  }
  for (const [name, value] of Object.entries(declared)) {
    const refused = refusedVariable(name, value);
    if (refused !== undefined) throw new TypeError(`environment of a connector: ${refused}`);
    env.set(name, value);
  }
  return Object.fromEntries(env);
}
