import { flushCompileCache } from 'node:module'
import { ApiError } from '@market/kernel/api-error'
import type { Network } from '@market/kernel/network'
import { BASE_USDC } from '@market/testing/evm-usdc'
import { startEvm } from '../networks/evm.ts'
import type { NetworkRequest, NetworkResponse, Ready } from '../networks/messages.ts'
import type { LocalNetwork } from '../networks/network.ts'
import { startSolana } from '../networks/solana.ts'
import { PORTS } from '../ports.ts'

/**
 * Runs the local chains until the IPC channel closes. The channel closes when the parent process ends in any way,
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

const withSolana = process.argv[2] !== 'without-solana'
const [base, alt, solana] = await Promise.all([
  startEvm({ chainId: 8453, usdc: BASE_USDC, port: PORTS['base-mainnet'], hasVenues: true }),
  startEvm({ ...ALT, port: PORTS['alt-mainnet'] }),
  withSolana ? startSolana({ port: PORTS['solana-mainnet'] }) : undefined,
])
const networks: Partial<Record<Network, LocalNetwork>> = {
  ...(solana && { 'solana-mainnet': solana }),
  'base-mainnet': base,
  'alt-mainnet': alt,
}
const running = Object.values(networks)
stopNetworks = () => Promise.all(running.map((network) => network.stop()))

function at(name: Network): LocalNetwork {
  const network = networks[name]
  if (network !== undefined) return network
  throw new ApiError('invalid', `${name} does not run here. Restart without --no-solana, on Linux on x64.`)
}

const COMMANDS = {
  newWallet: ({ network }) => at(network).newWallet(),
  fund: ({ network, address, ...more }) => at(network).fund(address, more),
  transfer: ({ network, to, amount, from }) => at(network).transfer(to, amount, from),
  makeBlocks: ({ network, on }) => at(network).makeBlocks(on),
  untilBlocksAt: (request) => Promise.all(running.map((network) => network.untilBlockAt(request.at))),
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

const settingsOf = ({ addresses, treasuryKey, gas, payoutGasKey, identity, venues }: LocalNetwork) => ({
  addresses,
  treasuryKey,
  gas,
  payoutGasKey,
  identity,
  venues,
})
const ready: Ready = {
  networks: Object.fromEntries(Object.entries(networks).map(([name, one]) => [name, settingsOf(one)])),
}
process.send?.(ready)
flushCompileCache()
