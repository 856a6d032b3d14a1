import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { ApiError } from '@market/kernel/api-error'
import type { Network } from '@market/kernel/network'
import type { RunningProcess } from '../supervised-server.ts'
import type { NetworkCommand, NetworkResponse, NetworkSettings, Ready } from './messages.ts'
import type { NetworkAddresses, SentTransfer, Wallet } from './network.ts'

export interface Networks extends RunningProcess {
  readonly addresses: Readonly<Partial<Record<Network, NetworkAddresses>>>
  /** Settings of every program that queries the chains. */
  readonly settings: Readonly<Record<string, string>>
  /** Settings of the worker only, which signs payouts. */
  readonly keys: Readonly<Record<string, string>>
  newWallet(network: Network): Promise<Wallet>
  fund(network: Network, address: string, more: { usdc: bigint; native: bigint }): Promise<void>
  transfer(network: Network, to: string, amount: bigint, from: string | undefined): Promise<SentTransfer>
  makeBlocks(network: Network, on: boolean): Promise<void>
  /** Resolves once every chain has a block that is at least as new. */
  untilBlocksAt(at: Date): Promise<unknown>
}

const PROGRAM = fileURLToPath(new URL('../commands/run-networks.ts', import.meta.url))
const KILL_AFTER_MS = 5_000

/** The prefix of each network's settings. */
const PREFIX: Readonly<Record<Network, string>> = {
  'solana-mainnet': 'SOLANA',
  'base-mainnet': 'BASE',
  'alt-mainnet': 'ALT',
}

/** Starts the chains in a separate process, which cannot outlive this one. */
export async function startNetworks(
  { solana }: { readonly solana: boolean },
  onLine: (line: string) => void,
): Promise<Networks> {
  const child = spawn(process.execPath, [PROGRAM, ...(solana ? [] : ['without-solana'])], {
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    serialization: 'advanced',
    // In a separate session Ctrl-C does not reach the chains; this process stops them after the programs that use them.
    detached: true,
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream?.on('data', (chunk: Buffer) => {
      output = (output + chunk.toString()).slice(-2_000)
      onLine(chunk.toString().trimEnd())
    })
  const exited = once(child, 'exit').then(() => {
    // The nodes are in its process group, so they are killed even when it crashed.
    killGroup(child.pid)
  })

  const pending = new Map<number, PromiseWithResolvers<unknown>>()
  const failed = exited.then(() => {
    for (const { reject } of pending.values()) reject(new Error('The networks have ended'))
    throw new Error(
      `The networks ended before they were up. Use --no-chains to start without them.\n${output}`,
    )
  })
  failed.catch(() => {})
  const [{ networks }] = (await Promise.race([once(child, 'message'), failed])) as [Ready]

  const running = Object.entries(networks) as unknown as Running

  child.on('message', (response: NetworkResponse) => {
    const request = pending.get(response.id)
    pending.delete(response.id)
    if ('result' in response) request?.resolve(response.result)
    else
      request?.reject(
        response.isApiError ? new ApiError('invalid', response.error) : new Error(response.error),
      )
  })
  let lastId = 0
  const send = (command: NetworkCommand): Promise<unknown> => {
    lastId += 1
    const response = Promise.withResolvers<unknown>()
    pending.set(lastId, response)
    child.send({ ...command, id: lastId }, (error) => error && response.reject(error))
    return response.promise
  }

  return {
    addresses: Object.fromEntries(running.map(([name, { addresses }]) => [name, addresses])),
    settings: settingsOf(running),
    keys: Object.fromEntries(
      running.flatMap(([name, { treasuryKey, payoutGasKey, venues }]) => [
        [`${PREFIX[name]}_TREASURY_KEY`, treasuryKey],
        ...(payoutGasKey === undefined ? [] : [[`${PREFIX[name]}_PAYOUT_GAS_KEYS`, payoutGasKey]]),
        ...(venues === undefined ? [] : [[`${PREFIX[name]}_VENUE_KEY`, venues.key]]),
      ]),
    ),
    newWallet: async (network) => (await send({ command: 'newWallet', network })) as Wallet,
    fund: async (network, address, more) => void (await send({ command: 'fund', network, address, ...more })),
    transfer: async (network, to, amount, from) =>
      (await send({ command: 'transfer', network, to, amount, from })) as SentTransfer,
    makeBlocks: async (network, on) => void (await send({ command: 'makeBlocks', network, on })),
    untilBlocksAt: (at) => send({ command: 'untilBlocksAt', at }),
    exited,
    stop: async () => {
      if (child.connected) child.disconnect()
      const timer = setTimeout(() => child.kill('SIGKILL'), KILL_AFTER_MS)
      await exited
      clearTimeout(timer)
    },
  }
}

/** The setting that identifies each chain. */
const IDENTITY: Readonly<Record<Network, string>> = {
  'solana-mainnet': 'SOLANA_GENESIS_HASH',
  'base-mainnet': 'BASE_CHAIN_ID',
  'alt-mainnet': 'ALT_CHAIN_ID',
}

type Running = readonly (readonly [Network, NetworkSettings])[]

function settingsOf(running: Running): Record<string, string> {
  const entries = running.flatMap(([name, { addresses, gas, identity, venues }]) => [
    [`${PREFIX[name]}_RPC_URLS`, addresses.rpc],
    [`${PREFIX[name]}_USDC`, addresses.usdc],
    ...(name === 'solana-mainnet' ? [] : [[`${PREFIX[name]}_PUBLIC_RPC_URL`, addresses.rpc]]),
    [`${PREFIX[name]}_TREASURY`, addresses.treasury],
    [`${PREFIX[name]}_GAS_ACCOUNT`, gas.account],
    [`${PREFIX[name]}_GAS_KEY`, gas.key],
    [IDENTITY[name], identity],
    ...(venues === undefined ? [] : [[`${PREFIX[name]}_VENUE_WALLET`, venues.wallet]]),
  ])
  return {
    ...Object.fromEntries(entries),
    EARN_MARKETS: JSON.stringify(running.flatMap(([, { venues }]) => venues?.markets ?? [])),
    ONE_PROVIDER: 'on',
    BASE_WATCH_FROM: '0',
    ALT_WATCH_FROM: '0',
  }
}

function killGroup(leader: number | undefined): void {
  if (leader === undefined) return
  try {
    process.kill(-leader, 'SIGKILL')
  } catch {
    // The whole group has ended already.
  }
}
