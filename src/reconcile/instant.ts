/**
 * An instant in words that are the same on every machine: UTC, ISO 8601, to the millisecond. Computed, because the core does not
 * speak of `Date`: what reads a time zone by accident can't be told from what does so on purpose (law L13).
 */

const DAY_MS = 86_400_000;

/** `2026-01-05T09:00:03.120Z`, from whole ms since epoch, zero or later. */
export function formatInstant(atMs: number): string {
  const { year, month, day } = dateOf(Math.floor(atMs / DAY_MS));
  const ms = atMs % DAY_MS;
  const time = [ms / 3_600_000, (ms / 60_000) % 60, (ms / 1_000) % 60].map((part) => padded(Math.floor(part), 2));
  return `${padded(year, 4)}-${padded(month, 2)}-${padded(day, 2)}T${time.join(':')}.${padded(ms % 1_000, 3)}Z`;
}

/** The Gregorian date of a day since 1970-01-01. Years are counted from March on, so that the leap day is the last of its year. */
function dateOf(day: number): { year: number; month: number; day: number } {
  const shifted = day + 719_468;
  const era = Math.floor(shifted / 146_097);
  const inEra = shifted - era * 146_097;
  const years = Math.floor(
    (inEra - Math.floor(inEra / 1_460) + Math.floor(inEra / 36_524) - Math.floor(inEra / 146_096)) / 365,
  );
  const inYear = inEra - (365 * years + Math.floor(years / 4) - Math.floor(years / 100));
  const fromMarch = Math.floor((5 * inYear + 2) / 153);
  const month = fromMarch < 10 ? fromMarch + 3 : fromMarch - 9;
  const year = era * 400 + years + (month <= 2 ? 1 : 0);
  return { year, month, day: inYear - Math.floor((153 * fromMarch + 2) / 5) + 1 };
}

const padded = (value: number, digits: number): string => String(value).padStart(digits, '0');
