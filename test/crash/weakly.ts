/** A log whose commits are not synced, for the controls: the product has no way to ask for it. */
import Database from 'better-sqlite3';

/** The same work, where every connection that was set to FULL is set to something weaker at once. */
export function weakly<A extends readonly unknown[], T>(
  synchronous: 'NORMAL' | 'OFF',
  work: (...args: A) => Promise<T>,
): (...args: A) => Promise<T> {
  return async (...args) => {
    const { prototype } = Database;
    const pragma = prototype.pragma;
    prototype.pragma = function (this: Database.Database, source, options) {
      const result = pragma.call(this, source, options);
      if (source === 'synchronous = FULL') pragma.call(this, `synchronous = ${synchronous}`);
      return result;
    };
    try {
      return await work(...args);
    } finally {
      prototype.pragma = pragma;
    }
  };
}
