/** What is installed on the device, as the host reports it: at every start, and whenever it changes. */
import type { FactOf, Payload } from '../events/index.ts';

type Installed = Payload<'connector.installed'>;

export interface Item {
  readonly connector: string;
  readonly kind: Installed['kind'];
  readonly authorization: Installed['authorization'];
  release: number;
  enabled: boolean;
  incompatible: boolean;
  present: boolean;
}

const item = (connector: string, kind: Item['kind'], authorization: Item['authorization']): Item => ({
  connector,
  kind,
  authorization,
  release: 1,
  enabled: true,
  incompatible: false,
  present: true,
});

/** Two that an account must have connected, one remote without authorization, one that is local, and one that can't be served. */
export const firstItems = (): Item[] => [
  item('docs', 'remote', 'api_key'),
  item('mail', 'remote', 'oauth2'),
  item('news', 'remote', 'none'),
  item('files', 'stdio', 'none'),
  item('safe', 'stdio', 'api_key'),
];

export const installedFact = (of: Item): FactOf<'connector.installed'> => ({
  type: 'connector.installed',
  data: {
    connector: of.connector,
    release: { version: `${String(of.release)}.0.0`, digest: `d${String(of.release)}` },
    kind: of.kind,
    authorization: of.authorization,
    enabled: of.enabled,
    incompatible: of.incompatible ? 'needs another host' : null,
  },
});

export const isExempt = (of: Item): boolean => of.kind !== 'remote' && of.authorization === 'none';
export const needsConnection = (of: Item): boolean => of.kind === 'remote' && of.authorization !== 'none';
/** Whether the host could serve it at all. */
export const isServable = (of: Item): boolean =>
  of.present && of.enabled && !of.incompatible && (of.kind === 'remote' || of.authorization === 'none');
