/**
 * The public everything server's own server object, imported from where the package is installed.
 */
import { createRequire } from 'node:module';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { pathToFileURL } from 'node:url';

/** A public demo server is missing. `command` is the one line that brings it. */
export class NotInstalled extends Error {
  override readonly name = 'NotInstalled';
  readonly code = 'not-installed';
  readonly command: string;
  constructor(readonly packageName: string) {
    super(`${packageName} is not installed; run: npm install ${packageName}`);
    this.command = `npm install ${packageName}`;
  }
}

/** What is used of the streamable HTTP transport of the SDK that the everything server brings along. */
export interface Transport {
  readonly sessionId?: string | undefined;
  handleRequest(request: IncomingMessage, response: ServerResponse): Promise<void>;
  close(): Promise<void>;
}

/** One session of the everything server: its server object is made by the package's own factory. */
export interface Everything {
  open(options: {
    readonly newSessionId: () => string;
    readonly onOpen: (id: string) => void;
    readonly onEnd: (id: string) => void;
  }): Promise<{ readonly transport: Transport; readonly end: () => Promise<void> }>;
}

const PACKAGE = '@modelcontextprotocol/server-everything';

interface Factory {
  readonly createServer: () => {
    readonly server: { connect(transport: Transport): Promise<void>; close(): Promise<void> };
    readonly cleanup: (sessionId?: string) => void;
  };
}
interface TransportModule {
  readonly StreamableHTTPServerTransport: new (options: {
    readonly sessionIdGenerator: () => string;
    readonly onsessioninitialized: (id: string) => void;
    readonly onsessionclosed: (id: string) => void;
  }) => Transport;
}

/** Loads the package. Throws {@link NotInstalled} where it is missing. */
export async function loadEverything(packageName: string = PACKAGE): Promise<Everything> {
  const { createServer, StreamableHTTPServerTransport } = await modules(packageName);
  return {
    async open({ newSessionId, onOpen, onEnd }) {
      const { server, cleanup } = createServer();
      const transport = new StreamableHTTPServerTransport({
        sessionIdGenerator: newSessionId,
        onsessioninitialized: onOpen,
        onsessionclosed: onEnd,
      });
      await server.connect(transport);
      return {
        transport,
        end: async () => {
          cleanup(transport.sessionId);
          await server.close();
        },
      };
    },
  };
}

/** The transport comes from the SDK that the everything server itself resolves, so that both are of one version. */
async function modules(packageName: string): Promise<Factory & TransportModule> {
  const factory = resolved(createRequire(import.meta.url), `${packageName}/dist/server/index.js`, packageName);
  const transport = resolved(createRequire(factory), '@modelcontextprotocol/sdk/server/streamableHttp.js', packageName);
  const [a, b] = await Promise.all([import(pathToFileURL(factory).href), import(pathToFileURL(transport).href)]);
  return { ...(a as Factory), StreamableHTTPServerTransport: (b as TransportModule).StreamableHTTPServerTransport };
}

function resolved(from: NodeJS.Require, specifier: string, packageName: string): string {
  try {
    return from.resolve(specifier);
  } catch {
    throw new NotInstalled(packageName);
  }
}
