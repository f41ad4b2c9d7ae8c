/**
 * Every generated file that is committed, with the text it must have. `npm run generate` writes them, test/structure holds them
 * against it: a schema that drifts from the code is a promise nobody keeps.
 */
import { configSchema } from '../src/cli/configSchema.ts';
import { documents, documentSchema } from '../src/cli/documents.ts';
import { machineArtefacts } from './machineArtefacts.ts';
import { sqlArtefact } from './sqlTexts.ts';

export interface Artefact {
  /** Path in the repository. */
  readonly path: string;
  readonly text: string;
}

export function artefacts(): readonly Artefact[] {
  return [
    { path: 'schemas/config.json', text: json(configSchema()) },
    ...schemas(),
    ...machineArtefacts(),
    sqlArtefact(),
  ];
}

const schemas = (): readonly Artefact[] =>
  Object.keys(documents).map((name) => ({ path: `schemas/${name}.json`, text: json(documentSchema(name)) }));

const json = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`;
