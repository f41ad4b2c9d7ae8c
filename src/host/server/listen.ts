/** `subscriptions/listen`: a stream that tells of changed tools until one side ends it. Nothing that was not asked for is sent. */
import { type Observable, type Subscription } from 'rxjs';
import {
  answerError,
  answerResult,
  encodeNotification,
  isObject,
  McpError,
  member,
  metaKeys,
  methods,
  rawObject,
  type HttpAnswer,
  type Id,
  type Implementation,
  type JsonObject,
} from '../../protocol/index.ts';
import type { Reply } from './reply.ts';

/** Open streams of one agent. More than a few are a leak on its side. */
const STREAMS = 32;

export class Listeners {
  readonly #changes: Observable<void>;
  readonly #serverInfo: Implementation;
  readonly #open = new Map<string, Set<() => void>>();

  constructor(changes: Observable<void>, serverInfo: Implementation) {
    this.#changes = changes;
    this.#serverInfo = serverInfo;
  }

  /** Serves one stream. Returns the answer instead when it can't be one. */
  serve(binding: string, id: Id, params: JsonObject, reply: Reply, until: AbortSignal): HttpAnswer | undefined {
    const filter = member(params, 'notifications');
    if (!isObject(filter))
      return answerError(id, new McpError(-32602, { message: 'notifications must be an object', httpStatus: 200 }));
    const streams = this.#open.get(binding) ?? new Set();
    if (streams.size >= STREAMS)
      return answerError(id, new McpError(-33005, { message: 'too many open streams', httpStatus: 200 }));
    const wanted = member(filter, 'toolsListChanged') === true;
    reply.stream();
    reply.notify(this.#note(methods.acknowledged, id, { notifications: wanted ? { toolsListChanged: true } : {} }));
    // What can never tell anything ends at once, instead of being held open.
    if (!wanted) return answerResult(id, this.#closing(id));
    this.#hold(binding, streams, id, reply, until);
    return undefined;
  }

  #hold(binding: string, streams: Set<() => void>, id: Id, reply: Reply, until: AbortSignal): void {
    const heard: Subscription = this.#changes.subscribe(() => reply.notify(this.#note(methods.toolsChanged, id, {})));
    const release = (): void => {
      heard.unsubscribe();
      streams.delete(end);
      until.removeEventListener('abort', end);
    };
    const end = (): void => (release(), reply.end(answerResult(id, this.#closing(id))));
    this.#open.set(binding, streams.add(end));
    reply.gone.addEventListener('abort', release, { once: true });
    until.addEventListener('abort', end, { once: true });
  }

  /** Ends every stream in order, so that clients know it was meant. */
  closeAll(): void {
    for (const streams of this.#open.values()) for (const end of [...streams]) end();
  }

  /** The id is text already: a client may count beyond what a number holds. */
  #note(method: string, id: Id, params: Readonly<Record<string, unknown>>): string {
    const members = Object.entries(params).map(([name, value]) => [name, JSON.stringify(value)] as const);
    return encodeNotification(method, rawObject([...members, ['_meta', rawObject([[metaKeys.subscriptionId, id]])]]));
  }

  #closing(id: Id): string {
    const serverInfo = JSON.stringify(this.#serverInfo);
    const meta = rawObject([[metaKeys.subscriptionId, id], [metaKeys.serverInfo, serverInfo]]); // prettier-ignore
    return rawObject([['resultType', '"complete"'], ['_meta', meta]]); // prettier-ignore
  }
}
