import { flushCompileCache } from 'node:module'
import { ApiError } from '@market/kernel/api-error'
import { NETWORKS, type Network } from '@market/kernel/network'
import { BASE_USDC } from '@market/testing/evm-usdc'
import { startEvm } from '../networks/evm.ts'
import type { NetworkRequest, NetworkResponse, Ready } from '../networks/messages.ts'
import { startSolana } from '../networks/solana.ts'

/**
 * Runs the three local chains until the IPC channel closes. The channel closes when the parent process ends in any way,
 * also by SIGKILL.
 */
const STOP_TIMEOUT_MS = 3_000

const ALT = { chainId: 42_161, usdc: '0xaf88d065e77c8cC2239327C5EDb3A432268e5831' } as const

/** Before the chains are up there is nothing to stop: a node that was started ends with this process. */
let stopNetworks = async (): Promise<unknown> => undefined
process.on('disconnect', async () => {
  setTimeout(() => process.exit(1), STOP_TIMEOUT_MS).unref()
  await stopNetworks()
  process.exit(0)
})
// The parent ended while this file was loading.
if (!process.connected) process.exit(0)

const [base, alt, solana] = await Promise.all([
  startEvm({ chainId: 8453, usdc: BASE_USDC }),
  startEvm(ALT),
  startSolana(),
])
const networks = { 'solana-mainnet': solana, 'base-mainnet': base, 'alt-mainnet': alt }
stopNetworks = () => Promise.all(Object.values(networks).map((network) => network.stop()))

const COMMANDS = {
  newWallet: ({ network }) => networks[network].newWallet(),
  fund: ({ network, address, ...more }) => networks[network].fund(address, more),
  transfer: ({ network, to, amount, from }) => networks[network].transfer(to, amount, from),
  advance: ({ seconds }) => Promise.all(NETWORKS.map((name) => networks[name].advance(seconds))),
} satisfies {
  [Name in NetworkRequest['command']]: (
    request: Extract<NetworkRequest, { command: Name }>,
  ) => Promise<unknown>
}

async function execute(request: NetworkRequest): Promise<NetworkResponse> {
  const { id, command } = request
  try {
    const run = COMMANDS[command] as (request: NetworkRequest) => Promise<unknown>
    return { id, result: await run(request) }
  } catch (error) {
    const isApiError = error instanceof ApiError
    return { id, error: error instanceof Error ? error.message : String(error), isApiError }
  }
}

// One at a time, because `fund` reads a balance and then sets it.
let last: Promise<unknown> = Promise.resolve()
process.on('message', (request: NetworkRequest) => {
  last = last.then(async () => process.connected && process.send?.(await execute(request)))
})

const entryOf = (name: Network) => {
  const { addresses, treasuryKey, gas, identity } = networks[name]
  return [name, { addresses, treasuryKey, gas, identity }] as const
}
const ready: Ready = { networks: Object.fromEntries(NETWORKS.map(entryOf)) as Ready['networks'] }
process.send?.(ready)
flushCompileCache()
