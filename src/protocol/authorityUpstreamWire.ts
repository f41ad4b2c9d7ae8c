/** The upstream of one call, as message and back. What cannot be read is `undefined`: a half-understood target is no target. */
import type { MessageInitShape } from '@bufbuild/protobuf';
import {
  GrpcMcpInjectionKind,
  GrpcMcpUpstreamMode,
  type GrpcMcpInjectionDTO,
  type GrpcMcpInjectionDTOSchema,
  type GrpcMcpUpstreamDTO,
  type GrpcMcpUpstreamDTOSchema,
  type GrpcMcpUpstreamLimitsDTO,
} from './gen/mcp_runtime_pb.ts';
import type { Injection, Upstream, UpstreamLimits, UpstreamMode } from './authority.ts';

const modes = {
  modern: GrpcMcpUpstreamMode.MCP_UPSTREAM_MODE_MODERN,
  legacy: GrpcMcpUpstreamMode.MCP_UPSTREAM_MODE_LEGACY,
  http: GrpcMcpUpstreamMode.MCP_UPSTREAM_MODE_HTTP,
} as const satisfies Record<UpstreamMode, GrpcMcpUpstreamMode>;

const modeFromWire = (mode: GrpcMcpUpstreamMode): UpstreamMode | undefined =>
  (Object.keys(modes) as UpstreamMode[]).find((word) => modes[word] === mode);

const injectionToWire = (injection: Injection): MessageInitShape<typeof GrpcMcpInjectionDTOSchema> => {
  switch (injection.kind) {
    case 'none':
      return { kind: GrpcMcpInjectionKind.MCP_INJECTION_KIND_NONE };
    case 'header':
      return { kind: GrpcMcpInjectionKind.MCP_INJECTION_KIND_HEADER, name: injection.name, prefix: injection.prefix };
    case 'query':
      return { kind: GrpcMcpInjectionKind.MCP_INJECTION_KIND_QUERY, name: injection.name };
  }
};

const injectionFromWire = (injection: GrpcMcpInjectionDTO | undefined): Injection | undefined => {
  switch (injection?.kind) {
    case GrpcMcpInjectionKind.MCP_INJECTION_KIND_NONE:
      return { kind: 'none' };
    case GrpcMcpInjectionKind.MCP_INJECTION_KIND_HEADER:
      return { kind: 'header', name: injection.name, prefix: injection.prefix };
    case GrpcMcpInjectionKind.MCP_INJECTION_KIND_QUERY:
      return { kind: 'query', name: injection.name };
    default:
      return undefined;
  }
};

const limitNames = [
  'connectMs',
  'firstByteMs',
  'idleMs',
  'totalMs',
  'requestBytes',
  'resultBytes',
  'concurrency',
] as const;

const limitsFromWire = (limits: GrpcMcpUpstreamLimitsDTO | undefined): UpstreamLimits => {
  const said = limitNames.filter((name) => limits !== undefined && limits[name] > 0);
  return Object.fromEntries(said.map((name) => [name, limits?.[name]]));
};

export const upstreamToWire = (upstream: Upstream): MessageInitShape<typeof GrpcMcpUpstreamDTOSchema> => ({
  ...upstream,
  mode: modes[upstream.mode],
  allowedHosts: [...upstream.allowedHosts],
  injection: injectionToWire(upstream.injection),
});

export const upstreamFromWire = (dto: GrpcMcpUpstreamDTO): Upstream | undefined => {
  const mode = modeFromWire(dto.mode);
  const injection = injectionFromWire(dto.injection);
  if (mode === undefined || injection === undefined || dto.contractScope === '') return undefined;
  return {
    endpoint: dto.endpoint,
    mode,
    allowedHosts: dto.allowedHosts,
    privateNetwork: dto.privateNetwork,
    injection,
    credential: dto.credential,
    limits: limitsFromWire(dto.limits),
    contractScope: dto.contractScope,
  };
};
