/** A storm of hints as one fact: a hint says "look again", and saying it ten thousand times says no more (D13, D16). */
import { Observable } from 'rxjs';
import { compareUint64, type Fact, type FactOf } from '../../events/index.ts';

type Hint = FactOf<'hint.received'>;

/**
 * The first hint passes at once; those within the span after it become one at its end: the highest revision, and the count. Hints
 * without a revision are joined apart, because a revision that is known already would hide that they ask for a read. Other facts
 * pass, after the hints before them.
 */
export function coalesce(spanMs: number): (source: Observable<Fact>) => Observable<Fact> {
  return (source) =>
    new Observable<Fact>((out) => {
      const held = new Map<boolean, Hint>();
      let span: NodeJS.Timeout | undefined;
      const flush = (): void => {
        clearTimeout(span);
        span = undefined;
        const joined = [...held.values()];
        held.clear();
        for (const hint of joined) out.next(hint);
      };
      const take = (hint: Hint): void => {
        if (span === undefined) {
          span = setTimeout(flush, spanMs);
          return out.next(hint);
        }
        const bare = hint.data.revision === null;
        const before = held.get(bare);
        held.set(bare, before === undefined ? hint : join(before, hint));
      };
      const subscription = source.subscribe({
        next: (fact) => (fact.type === 'hint.received' ? take(fact) : (flush(), out.next(fact))),
        complete: () => (flush(), out.complete()),
        error: (error: unknown) => out.error(error),
      });
      return () => (clearTimeout(span), subscription.unsubscribe());
    });
}

function join(a: Hint, b: Hint): Hint {
  const [left, right] = [a.data.revision, b.data.revision];
  const revision = left !== null && right !== null && compareUint64(left, right) > 0 ? left : right;
  const connector = a.data.connector === b.data.connector ? a.data.connector : null;
  return { type: 'hint.received', data: { ...b.data, revision, connector, count: a.data.count + b.data.count } };
}
