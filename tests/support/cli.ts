import { runProgram } from '../../packages/cli/src/test-program.ts'

/** The program `market` of one user in the process of the test. `folder` has its settings. */
export function cliHere(folder: string, environment: Readonly<Record<string, string>>) {
  const run = (args: readonly string[], more: Readonly<Record<string, string>> = {}) =>
    runProgram(args, { XDG_CONFIG_HOME: folder, ...environment, ...more })
  return {
    run,
    /** The JSON document of a command that succeeds. */
    json: async (...args: string[]) => {
      const { status, out, error } = await run([...args, '--json'])
      if (status !== 0) throw new Error(`market ${args.join(' ')} ended with ${status}: ${error}`)
      return JSON.parse(out)
    },
    /** The error of a command that fails: nothing else is printed. */
    error: async (args: readonly string[], more?: Readonly<Record<string, string>>) => {
      const { status, out, error } = await run([...args, '--json'], more)
      if (status === 0 || out !== '') throw new Error(`market ${args.join(' ')} ended with ${status}: ${out}`)
      return JSON.parse(error).error
    },
  }
}
