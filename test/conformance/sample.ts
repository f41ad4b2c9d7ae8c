/** Arguments that fit a schema of flat properties. */
export function sampleArguments(properties: object): Record<string, unknown> {
  const typed = Object.entries(properties) as readonly (readonly [string, { readonly type?: string }])[];
  return Object.fromEntries(typed.map(([key, { type }]) => [key, example(type)]));
}

function example(type: string | undefined): unknown {
  if (type === 'number' || type === 'integer') return 5;
  if (type === 'boolean') return true;
  return type === 'object' ? {} : 'x';
}
