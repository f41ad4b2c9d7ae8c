import { create, fromBinary, toBinary, type DescMessage } from '@bufbuild/protobuf';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import * as messages from '../../src/protocol/gen/mcp_runtime_pb.ts';
import {
  callOutcomes,
  rejectReasons,
  type CallToolAnswer,
  type ListToolsAnswer,
  type Upstream,
} from '../../src/protocol/authority.ts';
import * as requests from '../../src/protocol/authorityRequestWire.ts';
import * as wire from '../../src/protocol/authorityWire.ts';

const principal = {
  tenantId: 1n,
  principalId: 9_007_199_254_740_993n,
  principalType: 'USER',
  principalName: 'ann',
  displayName: 'Ann',
  clientId: '',
} as const;
const upstream: Upstream = {
  endpoint: 'https://mcp.example.com/mcp',
  mode: 'modern',
  allowedHosts: ['mcp.example.com'],
  privateNetwork: false,
  injection: { kind: 'header', name: 'Authorization', prefix: 'Bearer ' },
  credential: 'secret',
  limits: { totalMs: 1000, concurrency: 3 },
  contractScope: 'scope',
};
const tool = {
  toolId: 'id',
  toolName: 'point_write',
  permissionCode: 'p',
  risk: 'HIGH',
  serviceName: 's',
  apiPath: '/a/{id}',
  httpMethod: 'POST',
  inputSchema: '{}',
  definitionHash: 'h',
  parameters: [{ name: 'id', location: 'path', wireName: 'identifier', required: true }],
} as const;
const definition = {
  name: 'n',
  title: 't',
  description: 'd',
  inputSchema: '{"type":"object"}',
  toolId: 'id',
  permissionCode: 'p',
  risk: 'MEDIUM',
  definitionHash: 'h',
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
} as const;

const refusals = [
  { outcome: 'unauthenticated', message: 'm' },
  { outcome: 'insufficient_scope', message: 'm', requiredScopes: ['a', 'b'] },
  { outcome: 'authorization_required', message: 'm' },
  { outcome: 'reauth_required', message: 'm' },
  { outcome: 'unavailable', message: 'm' },
  { outcome: 'unavailable', message: 'm', retryAfterMs: 5 },
  ...rejectReasons.map((reason) => ({ outcome: 'rejected', reason, message: 'm' }) as const),
] as const;

const calls: readonly CallToolAnswer[] = [
  ...refusals,
  {
    outcome: 'confirm_required',
    confirmId: 'c',
    expiresAtMs: 1_800_000_000_000,
    summary: 's',
    risk: 'HIGH',
    message: 'm',
  },
  { outcome: 'in_flight', message: 'm', retryAfterMs: 1000 },
  ...callOutcomes.map((outcome) => ({ outcome: 'replay', stored: { outcome, detail: 'd', result: '{}' } }) as const),
  { outcome: 'authorized', callId: 'c', principal, risk: 'LOW', tool: null, upstream },
  {
    outcome: 'authorized',
    callId: 'c',
    principal,
    risk: 'HIGH',
    tool,
    upstream: { ...upstream, mode: 'http', injection: { kind: 'query', name: 'key' } },
  },
];
const lists: readonly ListToolsAnswer[] = [
  ...refusals,
  { outcome: 'authorized', principal, callId: null, upstream: null, tools: [] },
  {
    outcome: 'authorized',
    principal,
    callId: 'c',
    upstream: { ...upstream, mode: 'legacy', injection: { kind: 'none' } },
    tools: [definition],
  },
];

const over = <S extends DescMessage>(schema: S, message: Parameters<typeof toBinary<S>>[1]) =>
  fromBinary(schema, toBinary(schema, message));

describe('what is said on one side is what is heard on the other', () => {
  test.each(calls)('about a call: $outcome', (answer) => {
    expect(wire.callAnswerFromWire(over(messages.GrpcRMcpCallToolDTOSchema, wire.callAnswerToWire(answer)))).toEqual(
      answer,
    );
  });

  test.each(lists)('about a list: $outcome', (answer) => {
    expect(wire.listAnswerFromWire(over(messages.GrpcRMcpToolListDTOSchema, wire.listAnswerToWire(answer)))).toEqual(
      answer,
    );
  });

  test.each(callOutcomes)('about an outcome: %s', (outcome) => {
    const report = { callId: 'c', outcome, durationMs: 12, detail: 'd', result: '{}', traceId: 't' };
    expect(requests.reportFromWire(over(messages.GrpcMcpAuditCommandSchema, requests.reportToWire(report)))).toEqual(
      report,
    );
  });

  test('about what is asked', () => {
    const list = { token: 't', connectorId: 'c', connectorVersion: '1.0.0', probe: true, traceId: 'x' };
    expect(
      requests.listRequestFromWire(over(messages.GrpcMcpListToolsRequestSchema, requests.listRequestToWire(list))),
    ).toEqual(list);
    const call = {
      token: 't',
      connectorId: 'c',
      connectorVersion: '1.0.0',
      toolName: 'n',
      argumentDigest: 'd',
      definitionHash: 'h',
      confirmId: 'i',
      idempotencyKey: 'k',
      clientName: 'a',
      clientVersion: 'b',
      remoteIp: 'r',
      traceId: 'x',
    };
    expect(
      requests.callRequestFromWire(over(messages.GrpcMcpCallToolRequestSchema, requests.callRequestToWire(call))),
    ).toEqual(call);
  });
});

describe('what this side does not know is never permission', () => {
  const outcome = { outcome: 77 as messages.GrpcMcpOutcome };

  test('an outcome without a name, and none at all', () => {
    expect(
      wire.callAnswerFromWire(create(messages.GrpcRMcpCallToolDTOSchema, { data: { decision: 1, outcome } })).outcome,
    ).toBe('unavailable');
    expect(wire.callAnswerFromWire(create(messages.GrpcRMcpCallToolDTOSchema, { data: { decision: 1 } })).outcome).toBe(
      'unavailable',
    );
    expect(wire.listAnswerFromWire(create(messages.GrpcRMcpToolListDTOSchema, { outcome })).outcome).toBe(
      'unavailable',
    );
    expect(wire.listAnswerFromWire(create(messages.GrpcRMcpToolListDTOSchema)).outcome).toBe('unavailable');
  });

  test('an authorization that lacks its upstream, its call or its principal', () => {
    const whole = wire.callAnswerToWire({
      outcome: 'authorized',
      callId: 'c',
      principal,
      risk: 'LOW',
      tool: null,
      upstream,
    });
    for (const lacking of ['upstream', 'principal'] as const) {
      const { [lacking]: _gone, ...data } = whole.data ?? {};
      expect(wire.callAnswerFromWire(create(messages.GrpcRMcpCallToolDTOSchema, { data: data as never })).outcome).toBe(
        'unavailable',
      );
    }
    expect(wire.callAnswerFromWire({ ...whole, data: { ...whole.data, callId: '' } as never }).outcome).toBe(
      'unavailable',
    );
  });

  test('an outcome report with a number from the future', () => {
    expect(
      requests.reportFromWire(
        create(messages.GrpcMcpAuditCommandSchema, { callId: 'c', outcome: 99 as messages.GrpcMcpCallOutcome }),
      ),
    ).toBeUndefined();
  });
});

test('the numbers of the published contract are where they were, and ours begin at 100', () => {
  const numbers = (schema: DescMessage) =>
    Object.fromEntries(schema.fields.filter(({ number }) => number < 100).map(({ name, number }) => [name, number]));
  expect(numbers(messages.GrpcMcpListToolsRequestSchema)).toEqual({ token: 1 });
  expect(numbers(messages.GrpcMcpCallToolRequestSchema)).toEqual({
    token: 1,
    tool_name: 2,
    argument_digest: 3,
    confirm_id: 4,
    idempotency_key: 5,
    client_name: 6,
    client_version: 7,
    remote_ip: 8,
  });
  expect(numbers(messages.GrpcMcpToolDefinitionDTOSchema)).toEqual({
    name: 1,
    title: 2,
    description: 3,
    input_schema: 4,
    annotations: 5,
    meta: 6,
  });
  expect(numbers(messages.GrpcMcpPrincipalContextSchema)).toEqual({
    tenant_id: 1,
    principal_id: 2,
    principal_type: 3,
    principal_name: 4,
    display_name: 5,
    client_id: 6,
    connection_id: 7,
  });
  expect(numbers(messages.GrpcMcpCallToolDTOSchema)).toEqual({
    decision: 1,
    confirm_id: 2,
    message: 3,
    risk_level: 4,
    tool: 5,
    principal: 6,
  });
  expect(numbers(messages.GrpcRMcpCallToolDTOSchema)).toEqual({ result: 1, data: 2 });
  expect(numbers(messages.GrpcRMcpToolListDTOSchema)).toEqual({ result: 1, tools: 2 });
  expect(messages.GrpcMcpAuditCommandSchema.fields.map(({ number }) => number)).toEqual(
    [...Array(19).keys()].map((index) => index + 1).concat(100, 101, 102, 103),
  );
});

test('the contract file says exactly what the generated messages are made of', () => {
  const text = readFileSync(join(import.meta.dirname, '../../src/protocol/proto/mcp_runtime.proto'), 'utf8');
  const declared = [...text.matchAll(/^\s+(?:optional |repeated )?[\w.]+ (\w+) = (\d+);$/gm)].map(
    ([, name, number]) => `${name}=${number}`,
  );
  const generated = messages.file_mcp_runtime.messages.flatMap(({ fields }) =>
    fields.map(({ name, number }) => `${name}=${number}`),
  );
  expect(generated).toEqual(declared);
});
