/**
 * What is held against the suite, and with which of its scenarios, as data.
 *
 * A leg on a server runs a revision's whole frozen set, and the file of expected failures says which of it the design excludes. The
 * scenarios named here must be clean beyond that: some of them are not scored by the suite and would pass unseen.
 */
import { openDoor, openLocal, type Served } from './servers.ts';

export interface ClientLeg {
  readonly side: 'client';
  readonly title: string;
  readonly revision: string;
  readonly scenarios: readonly string[];
}

export interface ServerLeg {
  readonly side: 'server';
  readonly title: string;
  readonly revision: string;
  /** Must be there and clean, but for checks that the file of expected failures names. */
  readonly required: readonly string[];
  /** Name of the file in this folder. */
  readonly expectedFailures: string;
  readonly open: () => Promise<Served>;
}

export type Leg = ClientLeg | ServerLeg;

const tools = [
  'tools-list',
  'tools-call-simple-text',
  'tools-call-image',
  'tools-call-audio',
  'tools-call-embedded-resource',
  'tools-call-mixed-content',
  'tools-call-error',
  'tools-call-with-progress',
];
const bothEras = [...tools, 'dns-rebinding-protection', 'json-schema-2020-12'];
const stateless = [...bothEras, 'server-stateless', 'caching', 'server-sse-multiple-streams', 'http-header-validation'];

/** Scenarios of extensions, which no revision scores and which nobody here claims. */
export const extension = /^tasks-/;

export const legs: readonly Leg[] = [
  {
    side: 'client',
    title: 'client',
    revision: '2026-07-28',
    // The rest of the client's set is OAuth, which a cookie session has none of, and input that a server asks for in the middle.
    scenarios: [
      'tools_call',
      'request-metadata',
      'http-standard-headers',
      'http-custom-headers',
      'http-invalid-tool-headers',
      'json-schema-ref-no-deref',
      'json-schema-2020-12-preservation',
    ],
  },
  {
    side: 'server',
    title: 'gateway',
    revision: '2026-07-28',
    required: [...stateless, 'http-custom-header-server-validation'],
    expectedFailures: 'gateway.yml',
    open: openDoor,
  },
  {
    side: 'server',
    title: 'local server',
    revision: '2026-07-28',
    required: stateless,
    expectedFailures: 'local-2026-07-28.yml',
    open: openLocal,
  },
  {
    side: 'server',
    title: 'local server',
    revision: '2025-11-25',
    required: [...bothEras, 'server-initialize', 'ping'],
    expectedFailures: 'local-2025-11-25.yml',
    open: openLocal,
  },
];
