// E-mail addresses: their form, and which spellings are one address.
import { domainToASCII } from 'node:url';

/** Looser than RFC 5321 within its lengths. */
export function isEmail(text: string): boolean {
  return /^[^\s@\p{Cc}]{1,64}@[^\s@\p{Cc}]{1,190}$/u.test(text);
}

/** Equal for two spellings of one address: any letter case, IDNA form of the domain, NFC of the rest (R30.13). */
export function emailKey(email: string): string {
  const at = email.lastIndexOf('@') + 1;
  return foldEmail(email.slice(0, at)) + domainKey(email.slice(at));
}

/** `domainToASCII` parses a host of a URL, which may hold more than a name, and gives `''` for what is none. */
function domainKey(domain: string): string {
  const isName = /^[\w.\P{ASCII}-]*\P{ASCII}[\w.\P{ASCII}-]*$/u.test(domain);
  return (isName && domainToASCII(domain)) || foldEmail(domain);
}

/** NFC in lower case. Letters that Postgres' `lower` makes equal are, in whatever locale: İ and i, Σ and ς. */
function foldEmail(text: string): string {
  return text.normalize('NFC').toLowerCase().replaceAll('i\u0307', 'i').replaceAll('ς', 'σ').normalize('NFC');
}
