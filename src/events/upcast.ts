/**
 * How payloads of older schemas become today's. Pure, one step per version, composed; a change of a payload adds a step here and
 * raises SCHEMA, and a golden row of the version before goes into the tests.
 */

/** Lifts one payload by one version. Gets what JSON held, returns a new value. */
export type Upcast = (data: Readonly<Record<string, unknown>>) => Readonly<Record<string, unknown>>;

/** One version step: event type → upcast. Types without an entry did not change in that step. */
export type UpcastStep = ReadonlyMap<string, Upcast>;

/** Step `n` lifts schema `n + 1` to `n + 2`; there are always SCHEMA − 1 of them. */
export const upcastSteps: readonly UpcastStep[] = [];

/** The payload of `schema`, lifted through every later step. */
export function upcast(
  type: string,
  schema: number,
  data: Readonly<Record<string, unknown>>,
  steps: readonly UpcastStep[] = upcastSteps,
): Readonly<Record<string, unknown>> {
  return steps.slice(schema - 1).reduce((lifted, step) => step.get(type)?.(lifted) ?? lifted, data);
}
