import { type Command, command } from '../command.ts'
import { candidatesOf, SHELLS, type Shell, scriptFor } from '../completion-scripts.ts'
import { UsageError } from '../usage-error.ts'
import { callableIds } from './call.ts'

const isShell = (text: string): text is Shell => SHELLS.some((shell) => shell === text)

/** `commands` is a function, because this command is one of them. */
export const completionOf = (commands: () => readonly Command[]) =>
  command({
    name: 'completion',
    summary: 'Print the script that completes commands in bash, zsh or fish',
    parameters: ['shell'],
    examples: [
      'source <(market completion bash)        # in ~/.bashrc',
      'source <(market completion zsh)         # in ~/.zshrc, after compinit',
      'market completion fish | source         # in ~/.config/fish/config.fish',
    ],
    run: async ({ parameters: [shell = ''] }) => {
      if (!isShell(shell))
        throw new UsageError(`${shell} is not a shell that is known here. Write ${SHELLS.join(', ')}.`)
      const script = scriptFor(shell, candidatesOf(commands(), await callableIds()))
      return { json: { shell, script }, print: (printer) => printer.text(script.trimEnd()) }
    },
  })
