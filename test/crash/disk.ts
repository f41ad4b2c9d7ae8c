/**
 * A disk with a cache that a power cut empties. Fed with recorded operations, it says what could be on it at any moment: what was
 * synced for certain, of the rest any sectors and any names. A sync that failed has synced nothing, and what waited for it is never
 * certain afterwards, whatever later syncs say: a kernel may have given those pages up.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { Random } from '../../src/simulate/random.ts';
import type { Operation } from './shim.ts';

const SECTOR_BYTES = 512;

interface Change {
  readonly offset: number;
  /** `null` for a truncation to `offset`. */
  readonly data: Buffer | null;
  fate: 'waits' | 'synced' | 'doomed';
}

/** Name → file, or `null` where it was removed. */
type Naming = readonly [name: string, file: CachedFile | null];
/** Whether something that was not synced reached the disk. */
export type Kept = () => boolean;
export const everything: Kept = () => true;
export const atRandom =
  (random: Random, probability: number): Kept =>
  () =>
    random.chance(probability);

class CachedFile {
  #synced: Buffer = Buffer.alloc(0);
  #changes: Change[] = [];

  change(offset: number, data: Buffer | null): void {
    this.#changes.push({ offset, data, fate: 'waits' });
  }

  sync(hasFailed: boolean): void {
    for (const change of this.#changes) if (change.fate === 'waits') change.fate = hasFailed ? 'doomed' : 'synced';
    if (this.#changes.some(({ fate }) => fate === 'doomed')) return;
    this.#synced = this.content(everything);
    this.#changes = [];
  }

  content(isKept: Kept): Buffer {
    let content: Buffer = Buffer.from(this.#synced);
    for (const { offset, data, fate } of this.#changes) {
      const kept = fate === 'synced' ? everything : isKept;
      if (data !== null) content = writeSectors(content, offset, data, kept);
      else if (kept()) content = resized(content, offset);
    }
    return content;
  }
}

export class Disk {
  /** Names that a sync of the folder made certain, and those that wait for one. */
  readonly #names = new Map<string, CachedFile>();
  #naming: Naming[] = [];

  /** What is there before the first operation, all of it synced. */
  constructor(files: ReadonlyMap<string, Buffer> = new Map()) {
    for (const [name, content] of files) {
      const file = new CachedFile();
      file.change(0, content);
      file.sync(false);
      this.#names.set(name, file);
    }
  }

  apply({ kind, failed, path, offset, data }: Operation): void {
    const name = basename(path);
    if (kind === 'sync') return this.#sync(name, failed);
    if (failed || kind === 'note') return;
    if (kind === 'create') this.#naming.push([name, new CachedFile()]);
    if (kind === 'unlink') this.#naming.push([name, null]);
    if (kind === 'rename') this.#naming.push([basename(data.toString()), this.#file(name) ?? null], [name, null]);
    if (kind === 'write') this.#file(name)?.change(offset, data);
    if (kind === 'truncate') this.#file(name)?.change(offset, null);
  }

  /** What is on the disk when of all that was not synced only this is kept. */
  image(isKept: Kept): ReadonlyMap<string, Buffer> {
    const image = new Map<string, Buffer>();
    for (const [name, file] of this.#now(isKept)) image.set(name, file.content(isKept));
    return image;
  }

  #file(name: string): CachedFile | undefined {
    return this.#now(everything).get(name);
  }

  /** A sync of what is no file here is one of the folder. */
  #sync(name: string, hasFailed: boolean): void {
    const file = this.#file(name);
    if (file !== undefined) return file.sync(hasFailed);
    if (hasFailed) return;
    const now = this.#now(everything);
    this.#names.clear();
    for (const [known, kept] of now) this.#names.set(known, kept);
    this.#naming = [];
  }

  #now(isKept: Kept): Map<string, CachedFile> {
    const now = new Map(this.#names);
    for (const [name, file] of this.#naming)
      if (!isKept()) continue;
      else if (file === null) now.delete(name);
      else now.set(name, file);
    return now;
  }
}

/** Writes an image into `folder`, which is made. */
export function lay(image: ReadonlyMap<string, Buffer>, folder: string): void {
  mkdirSync(folder, { mode: 0o700 });
  for (const [name, content] of image) writeFileSync(join(folder, name), content, { mode: 0o600 });
}

function resized(content: Buffer, size: number): Buffer {
  return size <= content.length
    ? content.subarray(0, size)
    : Buffer.concat([content, Buffer.alloc(size - content.length)]);
}

function writeSectors(content: Buffer, offset: number, data: Buffer, isKept: Kept): Buffer {
  let written = content;
  for (let from = 0; from < data.length;) {
    const to = Math.min(data.length, from + SECTOR_BYTES - ((offset + from) % SECTOR_BYTES));
    if (isKept()) {
      if (offset + to > written.length) written = resized(written, offset + to);
      data.copy(written, offset + from, from, to);
    }
    from = to;
  }
  return written;
}
