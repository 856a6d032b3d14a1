import type { Command } from './command.ts'
import { GLOBAL_OPTIONS } from './parse-arguments.ts'

/** What can follow the words of a command: further words and options. The empty text is the program itself. */
export type Candidates = ReadonlyMap<string, readonly string[]>

export function candidatesOf(commands: readonly Command[], operationIds: readonly string[]): Candidates {
  const byWords = new Map<string, string[]>()
  const add = (words: string, candidate: string) => {
    const known = byWords.get(words) ?? []
    if (!known.includes(candidate)) byWords.set(words, [...known, candidate])
  }
  for (const { name, options = {} } of commands) {
    const words = name.split(' ')
    words.forEach((word, at) => {
      add(words.slice(0, at).join(' '), word)
    })
    for (const option of Object.keys(options)) add(name, `--${option}`)
  }
  for (const id of operationIds) add('call', id)
  for (const shell of SHELLS) add('completion', shell)
  for (const words of byWords.keys())
    for (const option of Object.keys(GLOBAL_OPTIONS)) add(words, `--${option}`)
  return byWords
}

export const SHELLS = ['bash', 'zsh', 'fish'] as const
export type Shell = (typeof SHELLS)[number]

/** The words of commands and options have no character that a shell interprets. */
const casesOf = (candidates: Candidates): string =>
  [...candidates].map(([words, all]) => `    '${words}') echo '${all.join(' ')}' ;;`).join('\n')

/** Words of the line that are not options are the command; what follows a command's own words is an argument. */
const candidatesFunction = (candidates: Candidates): string => `__market_candidates() {
  case "$1" in
${casesOf(candidates)}
    *' '*) __market_candidates "\${1% *}" ;;
    *) __market_candidates '' ;;
  esac
}
__market_words() {
  __market_line=''
  for __market_word in "$@"; do
    case "$__market_word" in
      -*) ;;
      *) __market_line="\${__market_line:+$__market_line }$__market_word" ;;
    esac
  done
  __market_candidates "$__market_line"
}`

const SCRIPTS: Readonly<Record<Shell, (candidates: Candidates) => string>> = {
  bash: (candidates) => `${candidatesFunction(candidates)}
_market() {
  local words=("\${COMP_WORDS[@]:1:COMP_CWORD-1}")
  COMPREPLY=($(compgen -W "$(__market_words "\${words[@]}")" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _market market
`,
  zsh: (candidates) => `#compdef market
${candidatesFunction(candidates)}
_market() {
  compadd -- \${=$(__market_words "\${(@)words[2,CURRENT-1]}")}
}
compdef _market market
`,
  fish: (candidates) => `function __market_candidates
  switch "$argv[1]"
${[...candidates].map(([words, all]) => `    case '${words}'\n      string split ' ' '${all.join(' ')}'`).join('\n')}
    case '* *'
      __market_candidates (string replace -r ' [^ ]*$' '' -- "$argv[1]")
    case '*'
      __market_candidates ''
  end
end
function __market_complete
  set -l words (commandline -opc)
  __market_candidates (string join ' ' -- (string match -v -- '-*' $words[2..-1]))
end
complete -c market -f -a '(__market_complete)'
`,
}

export const scriptFor = (shell: Shell, candidates: Candidates): string => SCRIPTS[shell](candidates)
