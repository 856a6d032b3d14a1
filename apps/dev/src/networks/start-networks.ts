import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { ApiError } from '@market/kernel/api-error'
import { NETWORKS, type Network } from '@market/kernel/network'
import type { Running } from '../leash.ts'
import type { Answer, Deed, Up } from './messages.ts'
import type { NetworkPlace, Sent } from './network.ts'

export interface Networks extends Running {
  readonly places: Readonly<Record<Network, NetworkPlace>>
  /** Settings of every program that looks at the chains. */
  readonly settings: Readonly<Record<string, string>>
  /** Settings of the program that pays. */
  readonly keys: Readonly<Record<string, string>>
  newWallet(network: Network): Promise<string>
  fund(network: Network, address: string, more: { usdc: bigint; native: bigint }): Promise<void>
  transfer(network: Network, to: string, amount: bigint, from: string | undefined): Promise<Sent>
  advance(seconds: number): Promise<void>
}

const PROGRAM = fileURLToPath(new URL('../commands/run-networks.ts', import.meta.url))
const KILL_AFTER_MS = 5_000

/** What the settings of each network begin with. */
const PREFIX: Readonly<Record<Network, string>> = {
  'solana-mainnet': 'SOLANA',
  'base-mainnet': 'BASE',
  'alt-mainnet': 'ALT',
}

/** Starts the three chains in a process of their own, which cannot outlive this one. */
export async function startNetworks(onLine: (line: string) => void): Promise<Networks> {
  const child = spawn(process.execPath, [PROGRAM], {
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    serialization: 'advanced',
    // A session of its own: Ctrl-C in the terminal is for us, and we stop programs before what they stand on.
    detached: true,
  })
  let said = ''
  for (const output of [child.stdout, child.stderr])
    output?.on('data', (chunk: Buffer) => {
      said = (said + chunk.toString()).slice(-2_000)
      onLine(chunk.toString().trimEnd())
    })
  const exited = once(child, 'exit').then(() => {
    // Its nodes are of its group: whatever became of it, they go too.
    endGroup(child.pid)
  })

  const waiting = new Map<number, PromiseWithResolvers<unknown>>()
  const gone = exited.then(() => {
    for (const { reject } of waiting.values()) reject(new Error('The networks have ended'))
    throw new Error(`The networks ended before they were up; --no-chains goes without them.\n${said}`)
  })
  gone.catch(() => {})
  const [{ up }] = (await Promise.race([once(child, 'message'), gone])) as [Up]

  child.on('message', (answer: Answer) => {
    const asked = waiting.get(answer.id)
    waiting.delete(answer.id)
    if ('result' in answer) asked?.resolve(answer.result)
    else asked?.reject(answer.isApiError ? new ApiError('invalid', answer.error) : new Error(answer.error))
  })
  let asked = 0
  const ask = (deed: Deed): Promise<unknown> => {
    asked += 1
    const answer = Promise.withResolvers<unknown>()
    waiting.set(asked, answer)
    child.send({ ...deed, id: asked }, (error) => error && answer.reject(error))
    return answer.promise
  }

  return {
    places: byNetwork((name) => up[name].place),
    settings: settingsOf(up),
    keys: Object.fromEntries(NETWORKS.map((name) => [`${PREFIX[name]}_TREASURY_KEY`, up[name].treasuryKey])),
    newWallet: async (network) => String(await ask({ deed: 'newWallet', network })),
    fund: async (network, address, more) => void (await ask({ deed: 'fund', network, address, ...more })),
    transfer: async (network, to, amount, from) =>
      (await ask({ deed: 'transfer', network, to, amount, from })) as Sent,
    advance: async (seconds) => void (await ask({ deed: 'advance', seconds })),
    exited,
    stop: async () => {
      if (child.connected) child.disconnect()
      const timer = setTimeout(() => child.kill('SIGKILL'), KILL_AFTER_MS)
      await exited
      clearTimeout(timer)
    },
  }
}

const byNetwork = <T>(of: (name: Network) => T): Record<Network, T> =>
  Object.fromEntries(NETWORKS.map((name) => [name, of(name)])) as Record<Network, T>

function settingsOf(up: Up['up']): Record<string, string> {
  const { 'solana-mainnet': solana, 'base-mainnet': base, 'alt-mainnet': alt } = up
  const places = NETWORKS.flatMap((name) => [
    [`${PREFIX[name]}_RPC_URLS`, up[name].place.rpc],
    [`${PREFIX[name]}_USDC`, up[name].place.usdc],
    [`${PREFIX[name]}_TREASURY`, up[name].place.treasury],
    [`${PREFIX[name]}_GAS_ACCOUNT`, up[name].gas.account],
    [`${PREFIX[name]}_GAS_KEY`, up[name].gas.key],
  ])
  return {
    ...Object.fromEntries(places),
    SOLANA_GENESIS_HASH: solana.identity,
    BASE_CHAIN_ID: base.identity,
    ALT_CHAIN_ID: alt.identity,
    BASE_WATCH_FROM: '0',
    ALT_WATCH_FROM: '0',
  }
}

function endGroup(leader: number | undefined): void {
  if (leader === undefined) return
  try {
    process.kill(-leader, 'SIGKILL')
  } catch {
    // Nobody of the group was left.
  }
}
