/** Received header fields as plain data, so that no HTTP library's type is part of the rules that read them. */

/** Received header fields, keyed by lower-case name, as node:http and undici give them. */
export type HeaderFields = Readonly<Record<string, string | readonly string[] | undefined>>;

const isPadding = (code: number): boolean => code === 32 || code === 9;

/** One field's value without the optional whitespace around it; repeated lines are joined, so that no single one can match. */
export function headerField(headers: HeaderFields, name: string): string | undefined {
  const key = name.toLowerCase();
  const value = Object.hasOwn(headers, key) ? headers[key] : undefined;
  const text = typeof value === 'string' ? value : value?.join(', ');
  const padded = text !== undefined && (isPadding(text.charCodeAt(0)) || isPadding(text.charCodeAt(text.length - 1)));
  return padded ? text.replace(/^[\t ]+|[\t ]+$/g, '') : text;
}

/** The media type in lower case without its parameters; undefined when none is stated. */
export function mediaType(headers: HeaderFields): string | undefined {
  const field = headerField(headers, 'content-type');
  if (field === 'application/json') return field;
  const type = field?.split(';', 1)[0]?.trim().toLowerCase();
  return type === '' ? undefined : type;
}
