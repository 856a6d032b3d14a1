import { setTimeout as wait } from 'node:timers/promises'
import { startWorker, type WorkerProcess } from './worker-process.ts'

/** Keeps so many workers running, whatever happens to them, and kills one of them every now and then. */
export function startNemesis(settings: {
  readonly workers: number
  readonly environment: Readonly<Record<string, string>>
  readonly random: () => number
}) {
  const { random } = settings
  const working = new Map<number, WorkerProcess>()
  const outputs: WorkerProcess[] = []
  const end = new AbortController()
  let killing = false
  let kills = 0

  const keepOne = async (_: unknown, place: number) => {
    while (!end.signal.aborted) {
      const worker = await startWorker(settings.environment)
      outputs.push(worker)
      working.set(place, worker)
      if (end.signal.aborted) worker.kill('SIGKILL')
      await worker.exited
      working.delete(place)
    }
  }
  /** Strikes at one of the places; who is not up yet there is spared. */
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
    /** Rejects when a worker does not come up. */
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
