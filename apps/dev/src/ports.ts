import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:net'

/** Below the kernel's ephemeral port range, so that no outgoing connection uses the port. */
const FIRST = 20_000
const LAST = 32_000

export const HOST = '127.0.0.1'

export const randomPort = (): number => randomInt(FIRST, LAST)

/** The first port of a pair. Pairs never overlap, so the run that listens on the first can also use the second. */
export const randomPortPair = (): number => randomInt(FIRST / 2, LAST / 2) * 2

/** False also when the current listener uses `reusePort`, as the API does. */
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
