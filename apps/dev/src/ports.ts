import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:net'

/** Below the kernel's ephemeral port range, so that no outgoing connection uses the port. */
const FIRST = 20_000
const LAST = 32_000

export const HOST = '127.0.0.1'

/** Used where they are free, so that addresses stay the same from run to run. The control server is on the port after the API's. */
export const API_PORT = 4_000
/** For uploaded files, which are served on an origin of their own. */
const FILES_PORT = 4_005
export const PORTS = { 'base-mainnet': 4_002, 'alt-mainnet': 4_003, 'solana-mainnet': 4_004 } as const

export const randomPort = (): number => randomInt(FIRST, LAST)

/** The port, or another one where it is taken. */
export async function freePort(preferred: number): Promise<number> {
  let port = preferred
  while (!(await isFree(port))) port = randomPort()
  return port
}

/** Only one environment has the usual port of the API, so two that start at once do not use the same port for files. */
export const filesPortOf = (apiPort: number): Promise<number> =>
  freePort(apiPort === API_PORT ? FILES_PORT : randomPort())

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
