/** A part of a program, and how it is coloured. */
export interface CodePart {
  readonly kind: 'plain' | 'comment' | 'string' | 'keyword'
  readonly text: string
}

export type Language = 'shell' | 'typescript' | 'python' | 'json'

const STRING = /"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'/
const TEMPLATE = /`(?:[^`\\]|\\.)*`/

const words = (text: string): RegExp => new RegExp(`\\b(?:${text.replaceAll(' ', '|')})\\b`)

const TYPESCRIPT =
  'import export from const let var function return await async new for of in if else while throw try catch class extends type interface true false null undefined'
const PYTHON =
  'import from def return class for in if elif else while with as try except raise lambda None True False print and or not'
const SHELL = 'export curl npm npx node market cd mkdir until do done if then fi for in echo'

const RULES: Readonly<Record<Language, readonly (readonly [CodePart['kind'], RegExp])[]>> = {
  shell: [
    ['comment', /(?<=^|\s)#[^\n]*/],
    ['string', STRING],
    ['keyword', new RegExp(`(?<=^|[\\s(|;])(?:${SHELL.replaceAll(' ', '|')})(?=\\s|$)`)],
  ],
  typescript: [
    ['comment', /\/\/[^\n]*|\/\*[\s\S]*?\*\//],
    ['string', new RegExp(`${STRING.source}|${TEMPLATE.source}`)],
    ['keyword', words(TYPESCRIPT)],
  ],
  python: [
    ['comment', /#[^\n]*/],
    ['string', STRING],
    ['keyword', words(PYTHON)],
  ],
  json: [
    ['keyword', /"(?:[^"\\\n]|\\.)*"(?=\s*:)/],
    ['string', STRING],
  ],
}

const NAMES: Readonly<Record<string, Language>> = {
  sh: 'shell',
  bash: 'shell',
  shell: 'shell',
  ts: 'typescript',
  js: 'typescript',
  typescript: 'typescript',
  javascript: 'typescript',
  py: 'python',
  python: 'python',
  json: 'json',
}

/** The language of a name in Markdown. */
export const languageOf = (name: string | undefined): Language | undefined => NAMES[name ?? '']

/** Splits a program into parts of one colour. The texts of all parts together are the program. */
export function highlight(code: string, language: Language): CodePart[] {
  const rules = RULES[language]
  const all = new RegExp(rules.map(([kind, rule]) => `(?<${kind}>${rule.source})`).join('|'), 'gm')
  const parts: CodePart[] = []
  let end = 0
  for (const match of code.matchAll(all)) {
    if (match.index > end) parts.push({ kind: 'plain', text: code.slice(end, match.index) })
    const [kind = 'plain'] = rules.map(([name]) => name).filter((name) => match.groups?.[name] !== undefined)
    parts.push({ kind, text: match[0] })
    end = match.index + match[0].length
  }
  if (end < code.length) parts.push({ kind: 'plain', text: code.slice(end) })
  return parts
}
