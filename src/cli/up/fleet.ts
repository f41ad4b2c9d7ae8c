/** All children of one `up`: started one by one, stopped together, none left behind. */
import { superviseChild, type Child, type ChildOptions, type ReadyLine } from './child.ts';

export interface Fleet {
  /** Starts a child and waits until it is ready. Throws what kept it from being ready, or {@link Stopping}. */
  start(options: ChildOptions): Promise<ReadyLine>;
  /** Process id of a child by its name. */
  pid(name: string): number | null;
  /** Stops every child, the last started first, and lets none start any more. */
  stop(): Promise<void>;
}

/** Told to stop before everything was started. */
export class Stopping extends Error {
  override readonly name = 'Stopping';
}

export function openFleet(): Fleet {
  const children = new Map<string, Child>();
  let stopping = false;
  return {
    start: async (options) => {
      if (stopping) throw new Stopping('told to stop');
      const child = superviseChild(options);
      children.set(options.name, child);
      return child.ready;
    },
    pid: (name) => children.get(name)?.pid ?? null,
    stop: async () => {
      stopping = true;
      const [last, ...others] = [...children.values()].reverse();
      // The daemon goes first: what it still has to say needs the others.
      await last?.stop();
      await Promise.all(others.map((child) => child.stop()));
    },
  };
}
