import { CONFUSABLES } from './tables.ts'

const fromBase36 = (code: string) => Number.parseInt(code, 36)

/** Every character that stands for one Latin letter or digit: by the confusables table, or by compatibility (NFKC). */
function lookAlikeCharacters(): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, string[]>()
  const add = (target: string, source: string) => found.set(target, [...(found.get(target) ?? []), source])
  for (const group of CONFUSABLES.trim().split(/\s+/)) {
    const [target = '', sources = ''] = group.split('=')
    const text = String.fromCodePoint(...target.split('+').map(fromBase36))
    let code = 0
    for (const step of sources.split(',')) {
      code += fromBase36(step)
      const source = String.fromCodePoint(code)
      add(text, source)
      // `m` is listed as `rn`.
      if (text === 'rn') add('m', source)
    }
  }
  for (let code = 0x2000; code < 0x1_d800; code++) {
    if (code >= 0xd800 && code < 0xe000) continue
    const source = String.fromCodePoint(code)
    const plain = source.normalize('NFKC')
    if (plain !== source && /^[a-z0-9]$/i.test(plain)) add(plain.toLowerCase(), source)
  }
  return found
}

const ALIKE = lookAlikeCharacters()

/** `count` names that look like this one: some with one replaced letter, others with all letters of one script. */
export function lookAlikesOf(name: string, count: number): string[] {
  const letters = [...name.toLowerCase()].filter((letter) => ALIKE.has(letter))
  const made = new Set<string>()
  for (const script of ['Cyrillic', 'Greek', 'Armenian', 'Cherokee', 'Lisu', 'Latin']) {
    const ofScript = new RegExp(`\\p{Script=${script}}`, 'u')
    const pick = (letter: string) => ALIKE.get(letter)?.find((char) => ofScript.test(char))
    if (letters.every((letter) => pick(letter) !== undefined))
      made.add([...name.toLowerCase()].map((letter) => pick(letter) ?? letter).join(''))
  }
  for (let n = 0; made.size < count; n++) {
    const at = n % name.length
    const choices = ALIKE.get(name[at]?.toLowerCase() ?? '')
    if (choices === undefined) continue
    const other = choices[(n * 31) % choices.length] ?? ''
    const every = n % 3 === 0 ? name.replaceAll(name[at] ?? '', other) : undefined
    const variant = every ?? name.slice(0, at) + other + name.slice(at + 1)
    if (variant.toLowerCase() !== name.toLowerCase()) made.add(variant)
  }
  return [...made]
}
