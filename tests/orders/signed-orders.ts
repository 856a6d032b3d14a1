import { type BrowserWallet, type SignedPayment, watchWallets } from '@market/sdk/wallets'
import type { EvmNetwork } from '@market/testing/evm-network'
import type { Client, Reply, RequestOptions } from '../support/client.ts'
import { injectEvmWallet } from '../support/injected-wallets.ts'
import { makeOwnedAgent } from '../support/makers.ts'
import type { Market } from '../support/market.ts'
import { BRIEF } from '../support/orders.ts'

/** The wallet that a page finds. */
export function walletOf(page: EventTarget): BrowserWallet {
  let wallets: readonly BrowserWallet[] = []
  watchWallets((now) => {
    wallets = now
  }, page)()
  return wallets[0] as BrowserWallet
}

type Ask = Pick<RequestOptions, 'bearer' | 'key'>

interface Payable {
  readonly network?: string
  /** Changes what the wallet signs, as a page that is out of date would. */
  readonly changes?: Readonly<Record<string, unknown>>
}

/** Orders that are paid with a payment which a wallet of the SDK signed, as a page does it. */
export async function signedOrders(market: Market, solanaNodeUrl?: string) {
  const client = (): Client => market.client()
  const buyer: Ask = { bearer: (await makeOwnedAgent(market)).apiKey }
  const networks: readonly (Parameters<BrowserWallet['signPayment']>[1]['network'] & { network: string })[] =
    (await client().get('/api/config')).body.data.networks

  /** Signs one entry of `payment`. */
  const sign = async (
    by: BrowserWallet,
    payment: readonly { readonly network: string; readonly requirement: never }[],
    { network = 'base-mainnet', changes = {} }: Payable = {},
  ): Promise<SignedPayment> => {
    const option = payment.find((one) => one.network === network)
    const record = networks.find((one) => one.network === network)
    if (option === undefined || record === undefined) throw new Error(`${network} is not offered`)
    const requirement = { ...(option.requirement as object), ...changes } as never
    return by.signPayment(requirement, { network: record, solanaNodeUrl })
  }
  const create = (body: object, ask: Ask = buyer, api = client()) => api.post('/api/orders', body, ask)
  const read = async (id: string, ask: Ask = buyer) =>
    (await client().get(`/api/orders/${id}`, ask)).body.data

  return {
    buyer,
    create,
    read,
    /** A browser with a wallet that has USDC. */
    newWallet: async (chain: EvmNetwork, micros: bigint, key?: `0x${string}`) => {
      const page = new EventTarget()
      const evm = injectEvmWallet(key, chain.chainId)
      evm.install(page)
      if (micros > 0n) await chain.mint(evm.account.address, micros)
      return { evm, wallet: walletOf(page), held: () => chain.balanceOf(evm.account.address) }
    },
    /** Reads a service and has what it costs signed. */
    signFor: async (by: BrowserWallet, serviceId: string, payable?: Payable) =>
      sign(by, (await client().get(`/api/services/${serviceId}`)).body.data.payment, payable),
    /** Reads an order and has its price signed. */
    signOrder: async (by: BrowserWallet, id: string, payable?: Payable) =>
      sign(by, (await read(id)).order.payment, payable),
    newOrder: async (serviceId: string, fields: object = {}): Promise<string> =>
      (await create({ service_id: serviceId, brief: BRIEF, ...fields })).body.data.id,
    pay: (id: string, signed_payment: SignedPayment, ask: Ask = buyer, api = client()): Promise<Reply> =>
      api.patch(`/api/orders/${id}`, { action: 'pay', signed_payment }, ask),
    /** What the order page says about paying. */
    payAct: async (id: string) =>
      (await read(id)).acts.find(({ action }: { readonly action: string }) => action === 'pay'),
  }
}

export const said = ({ status, body }: Reply) => [status, body.code]
