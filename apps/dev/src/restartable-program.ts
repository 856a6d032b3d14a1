import { ApiError } from '@market/kernel/api-error'
import type { Program } from './program.ts'

export interface RestartableProgram {
  /** Kills the program, and starts it again once it has ended. */
  restart(): Promise<void>
  stop(): Promise<void>
}

/** A program that can be killed and started again. `onExit` runs when it ends by itself. */
export async function startRestartable(
  start: () => Promise<Program>,
  onExit: (lastLines: string) => void,
): Promise<RestartableProgram> {
  let running: Program | undefined
  const begin = async () => {
    const program = await start()
    running = program
    program.exited.then(() => running === program && onExit(program.lastLines()))
  }
  await begin()
  return {
    restart: async () => {
      const program = running
      if (program === undefined) throw new ApiError('invalid', 'The program is being started already.')
      running = undefined
      await program.kill()
      await begin()
    },
    stop: async () => running?.stop(),
  }
}
