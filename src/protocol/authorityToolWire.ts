/** Tools of the authority's own catalogue, as messages and back. */
import type { MessageInitShape } from '@bufbuild/protobuf';
import {
  GrpcMcpParameterLocation,
  GrpcMcpRiskLevel,
  type GrpcMcpToolDefinitionDTO,
  type GrpcMcpToolDefinitionDTOSchema,
  type GrpcMcpToolResolveDTO,
  type GrpcMcpToolResolveDTOSchema,
} from './gen/mcp_runtime_pb.ts';
import type { Parameter, ResolvedTool, Risk, ToolDefinition } from './authority.ts';

export const riskToWire = (risk: Risk): GrpcMcpRiskLevel => GrpcMcpRiskLevel[risk];

/** A level we do not know is the most careful one. */
export const riskFromWire = (level: GrpcMcpRiskLevel): Risk => {
  if (level === GrpcMcpRiskLevel.LOW) return 'LOW';
  return level === GrpcMcpRiskLevel.MEDIUM ? 'MEDIUM' : 'HIGH';
};

const locations = {
  path: GrpcMcpParameterLocation.MCP_PARAMETER_LOCATION_PATH,
  query: GrpcMcpParameterLocation.MCP_PARAMETER_LOCATION_QUERY,
  body: GrpcMcpParameterLocation.MCP_PARAMETER_LOCATION_BODY,
  header: GrpcMcpParameterLocation.MCP_PARAMETER_LOCATION_HEADER,
} as const satisfies Record<Parameter['location'], GrpcMcpParameterLocation>;

const locationFromWire = (number: GrpcMcpParameterLocation): Parameter['location'] =>
  (Object.keys(locations) as Parameter['location'][]).find((word) => locations[word] === number) ?? 'body';

export const toolToWire = (tool: ResolvedTool): MessageInitShape<typeof GrpcMcpToolResolveDTOSchema> => ({
  toolId: tool.toolId,
  toolName: tool.toolName,
  permissionCode: tool.permissionCode,
  riskLevel: riskToWire(tool.risk),
  serviceName: tool.serviceName,
  apiPath: tool.apiPath,
  httpMethod: tool.httpMethod,
  inputSchema: tool.inputSchema,
  definitionHash: tool.definitionHash,
  parameters: tool.parameters.map((parameter) => ({ ...parameter, location: locations[parameter.location] })),
});

export const toolFromWire = (dto: GrpcMcpToolResolveDTO): ResolvedTool => ({
  toolId: dto.toolId,
  toolName: dto.toolName,
  permissionCode: dto.permissionCode,
  risk: riskFromWire(dto.riskLevel),
  serviceName: dto.serviceName,
  apiPath: dto.apiPath,
  httpMethod: dto.httpMethod,
  inputSchema: dto.inputSchema,
  definitionHash: dto.definitionHash,
  parameters: dto.parameters.map(({ name, location, wireName, required }) => ({
    name,
    location: locationFromWire(location),
    wireName: wireName === '' ? name : wireName,
    required,
  })),
});

export const definitionToWire = (tool: ToolDefinition): MessageInitShape<typeof GrpcMcpToolDefinitionDTOSchema> => ({
  name: tool.name,
  title: tool.title,
  description: tool.description,
  inputSchema: tool.inputSchema,
  annotations: tool.annotations,
  meta: { toolId: tool.toolId, permissionCode: tool.permissionCode, riskLevel: riskToWire(tool.risk) },
  definitionHash: tool.definitionHash,
});

export const definitionFromWire = (dto: GrpcMcpToolDefinitionDTO): ToolDefinition => ({
  name: dto.name,
  title: dto.title,
  description: dto.description,
  inputSchema: dto.inputSchema,
  annotations: {
    readOnlyHint: dto.annotations?.readOnlyHint ?? false,
    destructiveHint: dto.annotations?.destructiveHint ?? true,
    idempotentHint: dto.annotations?.idempotentHint ?? false,
    openWorldHint: dto.annotations?.openWorldHint ?? true,
  },
  toolId: dto.meta?.toolId ?? '',
  permissionCode: dto.meta?.permissionCode ?? '',
  risk: riskFromWire(dto.meta?.riskLevel ?? GrpcMcpRiskLevel.HIGH),
  definitionHash: dto.definitionHash,
});
