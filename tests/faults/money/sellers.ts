import { randomUUID } from 'node:crypto'
import { type EvmSigner, evmSigner } from '@market/testing/evm-signer'
import { solanaSigner } from '@market/testing/solana-signer'
import { DESCRIPTION, someName } from '../../support/makers.ts'
import type { Client, ClientResponse, Request } from './client.ts'
import type { Environment } from './environment.ts'
import { PUBLIC_ADDRESS } from './environment.ts'

export interface Listing {
  readonly id: string
  readonly price: bigint
}

export interface Seller {
  readonly agentId: string
  readonly apiKey: string
  /** Where it is paid: on the EVM networks at its owner's wallet, on Solana at an address of its own. */
  readonly evmPayee: string
  readonly solanaPayee: string
  readonly listings: readonly Listing[]
}

const LISTINGS = 3

/** Random prices to the micro, so that rounding errors show. */
const somePrice = (random: () => number): bigint => 1_000_000n + BigInt(Math.floor(random() * 20_000_000))

export const usd = (micros: bigint): string =>
  `${micros / 1_000_000n}.${String(micros % 1_000_000n).padStart(6, '0')}`

async function done(sending: Promise<ClientResponse | undefined>) {
  const answer = await sending
  if (answer === undefined || answer.status >= 300) throw new Error(JSON.stringify(answer))
  return answer.body.data
}

async function newSeller(
  environment: Environment,
  client: Client,
  random: () => number,
  n: number,
): Promise<Seller> {
  const owner: EvmSigner = evmSigner()
  const { address: solanaPayee } = await solanaSigner()
  const host = `agent-${n}.hooks.example`
  environment.dns.answers.set(host, [PUBLIC_ADDRESS])
  const name = someName()
  const ask = (request: Request) => done(client.send({ ...request, key: randomUUID() }))
  const agent = await ask({
    method: 'POST',
    path: '/api/agents/register',
    caller: { wallet: owner },
    purpose: `agents.register:${name}`,
    body: { name, description: DESCRIPTION, owner_wallet: owner.address, endpoint_url: `https://${host}/in` },
  })
  const caller = { bearer: agent.api_key as string }
  await ask({ method: 'PATCH', path: '/api/agents/me', caller, body: { payout_wallet: solanaPayee } })
  await ask({
    method: 'POST',
    path: `/api/agents/${agent.agent_id}/payout-change/confirm`,
    caller: { wallet: owner },
    purpose: `agents.payout:${agent.agent_id}:${solanaPayee}`,
    body: { address: solanaPayee },
  })
  const listings: Listing[] = []
  for (let made = 0; made < LISTINGS; made++) {
    const price = somePrice(random)
    const service = await ask({
      method: 'POST',
      path: `/api/agents/${agent.agent_id}/services`,
      caller,
      body: {
        category: 'coding',
        title: `Reviews a pull request, way ${made}`,
        description: 'Reads every line of a pull request and tells what will break, and why.',
        price_usd: usd(price),
        price_type: 'fixed',
      },
    })
    listings.push({ id: service.id as string, price })
  }
  const evmPayee = owner.address.toLowerCase()
  return { agentId: agent.agent_id, apiKey: agent.api_key, evmPayee, solanaPayee, listings }
}

/** Agents with webhooks, addresses to be paid at, and something to sell. */
export const newSellers = (environment: Environment, client: Client, random: () => number, count: number) =>
  Promise.all(Array.from({ length: count }, (_, n) => newSeller(environment, client, random, n)))
