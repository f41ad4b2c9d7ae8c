import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { REDACTED, redacting } from '../../src/gateway/redact.ts';

const secret = 'sk-live_Zz9/+"q';
const redact = redacting(secret);

describe('redaction', () => {
  test.each([
    ['plain', secret],
    ['as a header', `Bearer ${secret}`],
    ['twice', `${secret}${secret}`],
    ['in Base64', Buffer.from(secret).toString('base64')],
    ['in a URL', `https://x/?k=${encodeURIComponent(secret)}`],
    ['in a URL as it was sent', `https://x/?${new URLSearchParams({ k: secret }).toString()}`],
    ['in JSON that is a text', JSON.stringify({ authorization: `Bearer ${secret}` })],
  ])('finds a credential %s, as a value and as a name', (_, echoed) => {
    const text = JSON.stringify({ a: [echoed], [echoed]: 1 });
    const left = redact(text);
    expect(left).not.toContain(JSON.stringify(echoed));
    expect(JSON.stringify(JSON.parse(left))).toContain(REDACTED);
  });

  test('finds a credential in the query that a form makes of it', () => {
    const odd = "a b!c'd(e)~f";
    const sent = new URL('https://x/');
    sent.searchParams.set('k', odd);
    expect(redacting(odd)(JSON.stringify({ url: sent.href }))).toBe(`{"url":"https://x/?k=${REDACTED}"}`);
  });

  test('finds a credential behind escapes that its writer chose', () => {
    const escaped = [...secret].map((c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`).join('');
    expect(redact(`{"a":"x${escaped}y"}`)).toBe(`{"a":"x${REDACTED}y"}`);
  });

  test('leaves every other text as it was, byte for byte', () => {
    fc.assert(
      fc.property(fc.json(), (json) => {
        fc.pre(!json.includes('sk-live'));
        expect(redact(json)).toBe(json);
      }),
    );
    const odd = '{"n": 9007199254740993 ,"e":"\\u0041\\/","b":1.0e2}';
    expect(redact(odd)).toBe(odd);
  });

  test('does nothing for a credential too short to be one', () => {
    expect(redacting('a')('{"a":"a"}')).toBe('{"a":"a"}');
  });
});
