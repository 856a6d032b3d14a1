export interface Instruction {
  readonly name: string
  readonly text: string
}

export interface Stage {
  readonly base: string
  readonly alias: string | undefined
  readonly instructions: readonly Instruction[]
}

/** The stages of a Dockerfile. It knows what ours uses: comments, continued lines, FROM … AS. */
export function parseDockerfile(text: string): Stage[] {
  const lines = text
    .replace(/^\s*#.*\n/gm, '')
    .replace(/\\\n\s*/g, '')
    .split('\n')
    .filter((line) => line.trim() !== '')
  const stages: { base: string; alias: string | undefined; instructions: Instruction[] }[] = []
  for (const line of lines) {
    const [, name = '', rest = ''] = /^([A-Z]+)\s+(.*)$/.exec(line) ?? []
    if (name === '') throw new Error(`Not an instruction: ${line}`)
    if (name === 'FROM') {
      const [, base = '', alias] = /^(\S+)(?:\s+AS\s+(\S+))?$/.exec(rest) ?? []
      stages.push({ base, alias, instructions: [] })
    } else stages.at(-1)?.instructions.push({ name, text: rest })
  }
  return stages
}

export const textsOf = (stage: Stage | undefined, name: string): string[] =>
  (stage?.instructions ?? []).filter((one) => one.name === name).map(({ text }) => text)

/** The words of an instruction in its JSON form, which needs no shell. */
export const wordsOf = (text: string): string[] => JSON.parse(text.slice(text.indexOf('['))) as string[]

/** `NAME=value NAME=value` of the ENV lines. */
export const environmentOf = (stage: Stage | undefined): Record<string, string> =>
  Object.fromEntries(
    textsOf(stage, 'ENV').flatMap((text) =>
      text.split(' ').map((pair) => [pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1)]),
    ),
  )

/** Whether a file is in the build context: the last line of .dockerignore that matches it, or a folder above it, decides. */
export function isInContext(ignore: string, file: string): boolean {
  const folders = file.split('/').map((_part, index, parts) => parts.slice(0, index + 1).join('/'))
  let included = true
  for (const line of ignore.split('\n').filter((one) => one !== '' && !one.startsWith('#'))) {
    const pattern = patternOf(line.replace(/^!/, ''))
    if (folders.some((path) => pattern.test(path))) included = line.startsWith('!')
  }
  return included
}

/** `*` also matches names that begin with a dot. */
const patternOf = (glob: string): RegExp => {
  const text = glob.replaceAll('.', String.raw`\.`).replaceAll('*', '[^/]*')
  return new RegExp(`^${text.replaceAll('[^/]*[^/]*/', '(?:.*/)?')}$`)
}
