/**
 * Text of others for a person's terminal. A tool's result, name or error could else move the cursor, write the clipboard or turn the
 * direction of reading: what is read is then not what was said. Threat C31.
 */
const COMMANDS = /(?![\n\t])[\p{Cc}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;
const COLOUR_OR_COMMAND = new RegExp(`\\u001b\\[[0-9;]*m|${COMMANDS.source}`, 'gu');
const SEEN = '\ufffd';

/** Without anything that a terminal obeys. Line breaks and tabs stay. */
export function plain(text: string): string {
  return text.replaceAll('\r\n', '\n').replace(COMMANDS, SEEN);
}

/** The same, but for colours: of text that is partly our own. */
export function coloured(text: string): string {
  return text.replaceAll('\r\n', '\n').replace(COLOUR_OR_COMMAND, (found) => (found.length > 1 ? found : SEEN));
}
