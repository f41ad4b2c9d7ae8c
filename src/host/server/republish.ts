/**
 * A tool's definition under the name that agents see. Nothing else changes, byte for byte, but one thing: `x-mcp-header` marks are
 * taken out, because they bind whoever sends the request to the *gateway*; an agent would have to mirror arguments into headers
 * that this server would then have to check (facts: mcp 2.6).
 */
import { rawMember, spliceMembers, type Tool } from '../../protocol/index.ts';

export function republished(tool: Tool, name: string): string {
  const renamed = spliceMembers(tool.text, new Map([['name', JSON.stringify(name)]]));
  return tool.bindings.reduce((text, { path }) => {
    const steps = ['inputSchema', ...path.flatMap((step) => ['properties', step])];
    return at(text, steps, (schema) => spliceMembers(schema, new Map([['x-mcp-header', undefined]])));
  }, renamed);
}

/** Changes the text at a path and leaves the rest as it was. */
function at(text: string, path: readonly string[], change: (text: string) => string): string {
  const [step, ...rest] = path;
  if (step === undefined) return change(text);
  const below = rawMember(text, step);
  return below === undefined ? text : spliceMembers(text, new Map([[step, at(below, rest, change)]]));
}
