/**
 * The three calls of mcp_runtime.proto in the shape a gRPC implementation wants: path and byte codecs of each method, typed by
 * the generated messages. A plain object, so that this room opens no socket: the authority serves it, the gateway calls it.
 */
import { fromBinary, toBinary, type DescMessage, type MessageShape } from '@bufbuild/protobuf';
import { McpRuntimeApi } from './gen/mcp_runtime_pb.ts';

export interface UnaryMethod<Request, Response> {
  readonly path: string;
  readonly requestStream: false;
  readonly responseStream: false;
  readonly requestSerialize: (message: Request) => Buffer;
  readonly requestDeserialize: (bytes: Buffer) => Request;
  readonly responseSerialize: (message: Response) => Buffer;
  readonly responseDeserialize: (bytes: Buffer) => Response;
}

// A view, not a copy: these bytes go straight to the socket.
const encode = <S extends DescMessage>(schema: S, message: MessageShape<S>): Buffer => {
  const bytes = toBinary(schema, message);
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
};

const unary = <I extends DescMessage, O extends DescMessage>(method: {
  readonly name: string;
  readonly input: I;
  readonly output: O;
}): UnaryMethod<MessageShape<I>, MessageShape<O>> => ({
  path: `/${McpRuntimeApi.typeName}/${method.name}`,
  requestStream: false,
  responseStream: false,
  requestSerialize: (message) => encode(method.input, message),
  requestDeserialize: (bytes) => fromBinary(method.input, bytes),
  responseSerialize: (message) => encode(method.output, message),
  responseDeserialize: (bytes) => fromBinary(method.output, bytes),
});

/** Service definition of the runtime contract, as grpc-js's `addService` and `makeUnaryRequest` take it. */
export const mcpRuntimeService = {
  listTools: unary(McpRuntimeApi.method.listTools),
  callTool: unary(McpRuntimeApi.method.callTool),
  audit: unary(McpRuntimeApi.method.audit),
} as const;

/** Largest message either side accepts: the limit of a request body, or a stored result with room around it. */
export const maxMessageBytes: number = 10 * 1024 * 1024;

/** Metadata key that carries the shared secret where the address is a port instead of a socket file. */
export const peerSecretKey = 'dacapo-peer';
