import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:net'

/** Below the range from which the kernel hands out ports for outgoing connections and for port 0. */
const FIRST = 20_000
const LAST = 32_000

export const HOST = '127.0.0.1'

export const somePort = (): number => randomInt(FIRST, LAST)

/** The first of two neighbours. Pairs never overlap, so whoever listens on the first has the second to itself. */
export const somePair = (): number => randomInt(FIRST / 2, LAST / 2) * 2

/** Alone on the port: a listener that shares its port, as the api does, makes this fail too. */
export async function isFree(port: number): Promise<boolean> {
  const probe = createServer()
  try {
    probe.listen({ port, host: HOST })
    await once(probe, 'listening')
  } catch {
    return false
  }
  probe.close()
  await once(probe, 'close')
  return true
}
