import { flushCompileCache } from 'node:module'
import { ApiError } from '@market/kernel/api-error'
import { NETWORKS, type Network } from '@market/kernel/network'
import { BASE_USDC } from '@market/testing/evm-usdc'
import { startEvm } from '../networks/evm.ts'
import type { Answer, Question, Up } from '../networks/messages.ts'
import { startSolana } from '../networks/solana.ts'

/**
 * The three chains, for as long as whoever started this process listens: the channel between the two closes however
 * that one ends, even by SIGKILL, and the chains end with it.
 */
const GIVE_UP_MS = 3_000

const ALT = { chainId: 42_161, usdc: '0xaf88d065e77c8cC2239327C5EDb3A432268e5831' } as const

/** Until the chains are up, ending is enough: a node that was started goes when this process exits. */
let end = async (): Promise<unknown> => undefined
process.on('disconnect', async () => {
  setTimeout(() => process.exit(1), GIVE_UP_MS).unref()
  await end()
  process.exit(0)
})
// Gone while our own files were still being read.
if (!process.connected) process.exit(0)

const [base, alt, solana] = await Promise.all([
  startEvm({ chainId: 8453, usdc: BASE_USDC }),
  startEvm(ALT),
  startSolana(),
])
const networks = { 'solana-mainnet': solana, 'base-mainnet': base, 'alt-mainnet': alt }
end = () => Promise.all(Object.values(networks).map((network) => network.stop()))

const DEEDS = {
  newWallet: ({ network }) => networks[network].newWallet(),
  fund: ({ network, address, ...more }) => networks[network].fund(address, more),
  transfer: ({ network, to, amount, from }) => networks[network].transfer(to, amount, from),
  advance: ({ seconds }) => Promise.all(NETWORKS.map((name) => networks[name].advance(seconds))),
} satisfies { [Deed in Question['deed']]: (question: Extract<Question, { deed: Deed }>) => Promise<unknown> }

async function answer(question: Question): Promise<Answer> {
  const { id, deed } = question
  try {
    const act = DEEDS[deed] as (question: Question) => Promise<unknown>
    return { id, result: await act(question) }
  } catch (error) {
    const isApiError = error instanceof ApiError
    return { id, error: error instanceof Error ? error.message : String(error), isApiError }
  }
}

// One after the other: what an address holds is read and then set.
let last: Promise<unknown> = Promise.resolve()
process.on('message', (question: Question) => {
  last = last.then(async () => process.connected && process.send?.(await answer(question)))
})

const described = (name: Network) => {
  const { place, treasuryKey, gas, identity } = networks[name]
  return [name, { place, treasuryKey, gas, identity }] as const
}
const up: Up = { up: Object.fromEntries(NETWORKS.map(described)) as Up['up'] }
process.send?.(up)
flushCompileCache()
