import { setTimeout as wait } from 'node:timers/promises'
import { type ServerProcess, startWorker } from './processes.ts'

/** Keeps a number of workers running and kills one of them at random times. */
export function startFaultInjector(settings: {
  readonly workers: number
  readonly environment: Readonly<Record<string, string>>
  readonly random: () => number
}) {
  const { random } = settings
  const working = new Map<number, ServerProcess>()
  const outputs: ServerProcess[] = []
  const end = new AbortController()
  let killing = false
  let kills = 0

  const keepOne = async (_: unknown, slot: number) => {
    while (!end.signal.aborted) {
      const worker = await startWorker(settings.environment)
      outputs.push(worker)
      working.set(slot, worker)
      if (end.signal.aborted) worker.kill('SIGKILL')
      await worker.exited
      working.delete(slot)
    }
  }
  /** Kills the worker of a random slot, unless it is still starting. */
  const strike = async () => {
    while (!end.signal.aborted && killing) {
      await wait(200 + random() * 600)
      const victim = working.get(Math.floor(random() * settings.workers))
      if (victim === undefined || !killing) continue
      victim.kill('SIGKILL')
      kills += 1
      await victim.exited
    }
  }
  const keeping = Promise.all(Array.from({ length: settings.workers }, keepOne))
  let striking = Promise.resolve()
  return {
    /** Rejects when a worker does not start. */
    keeping,
    kills: () => kills,
    begin: () => {
      killing = true
      striking = strike()
    },
    output: () => outputs.map((worker) => worker.output()).join(''),
    calm: () => {
      killing = false
    },
    stop: async () => {
      end.abort()
      for (const worker of working.values()) worker.kill('SIGKILL')
      await Promise.all([keeping, striking])
    },
  }
}
