/** Holds what a command printed against the schema that is published for it. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect } from 'vitest';

const ajv = new Ajv2020({ strict: false, allErrors: true });

/** Parses one document and asserts that `schemas/NAME.json` allows it. */
export function documentOf(name: string, text: string): Record<string, unknown> {
  const path = join(import.meta.dirname, '../../schemas', `${name}.json`);
  const schema = JSON.parse(readFileSync(path, 'utf8')) as object;
  const validate = ajv.getSchema(`dacapo:${name}`) ?? ajv.compile({ ...schema, $id: `dacapo:${name}` });
  const document = JSON.parse(text) as Record<string, unknown>;
  const valid = validate(document) as boolean;
  expect(valid ? [] : validate.errors, `${name}: ${text.slice(0, 500)}`).toEqual([]);
  return document;
}
