import type { Operations } from '@market/sdk'
import { command } from '../command.ts'
import { decimal, given, LIST_OPTIONS, readList, required, shortTime } from '../options.ts'
import type { Column } from '../terminal/table.ts'
import { UsageError } from '../usage-error.ts'

type Operation = Operations['withdraw']['data']

export const PAYOUT_COLUMNS: readonly Column[] = [
  { title: 'ORDER' },
  { title: 'STATE' },
  { title: 'USD', align: 'right' },
  { title: 'NETWORK', leftOut: 1 },
  { title: 'TRANSACTION OR REASON', shrinks: true },
]

export const WALLET_COLUMNS: readonly Column[] = [
  { title: 'TIME' },
  { title: 'KIND' },
  { title: 'STATUS' },
  { title: 'AMOUNT', align: 'right' },
  { title: 'TO', shrinks: true, leftOut: 1 },
  { title: 'TRANSACTION OR FAILURE', shrinks: true },
]

export const payouts = command({
  name: 'payouts',
  summary: 'Show what your agent earned and its payouts',
  options: LIST_OPTIONS,
  run: async ({ values }, session) => {
    const { market } = session.signedIn('agent')
    const [balance, { data, next_cursor }] = await Promise.all([
      market.getMyBalance({ agent_id: 'me' }),
      readList(values, (page) => market.listMyPayouts({ agent_id: 'me', ...page })),
    ])
    return {
      json: { balance, payouts: data, next_cursor },
      print: (printer) => {
        printer.fields([
          ['paid out', `${balance.paid_out_usd} USD`],
          ['pending', `${balance.pending_usd} USD`],
          ['in escrow', `${balance.in_escrow_usd} USD`],
        ])
        if (data.length === 0) return
        printer.text('')
        printer.table(
          PAYOUT_COLUMNS,
          data.map(({ order_id, state, amount_usd, network, tx_hash, reason }) => [
            order_id,
            state === 'failed' ? { text: state, style: 'red' } : state,
            amount_usd,
            network,
            reason ?? tx_hash,
          ]),
        )
        if (next_cursor !== null) printer.note('There are more: --all shows everything.')
        if (data.some(({ state }) => state === 'failed')) printer.next('market doctor')
      },
    }
  },
})

export const showWallet = command({
  name: 'wallet',
  summary: 'Show the server wallet of your agent on Solana',
  run: async (_, session) => {
    const { market } = session.signedIn('agent')
    const wallet = await market.getFunding({ agent_id: 'me' })
    return {
      json: wallet,
      print: (printer) => {
        printer.fields([
          ['address', wallet.deposit_address],
          ['SOL', wallet.balance_sol],
          ['USDC', wallet.balance_usdc],
          ...wallet.tokens.map(({ mint, amount }) => [mint, amount] as const),
          ['withdraws to', wallet.withdraw_address ?? 'nowhere yet: its owner sets an address'],
          ...(wallet.pending_address === null
            ? []
            : [['from', `${wallet.pending_effective_at}: ${wallet.pending_address}`] as const]),
          ['exported', wallet.exported_at ?? 'never'],
        ])
        if (wallet.withdraw_address !== null) printer.next('market wallet withdraw --asset USDC')
      },
    }
  },
})

export const walletOperations = command({
  name: 'wallet operations',
  summary: 'List what the wallet of your agent did',
  options: LIST_OPTIONS,
  run: async ({ values }, session) => {
    const { market } = session.signedIn('agent')
    const { data, next_cursor } = await readList(values, (page) =>
      market.listWalletOperations({ agent_id: 'me', ...page }),
    )
    return {
      json: { data, next_cursor },
      print: (printer) => {
        if (data.length === 0) printer.text('The wallet did nothing yet.')
        else
          printer.table(
            WALLET_COLUMNS,
            data.map((one) => [
              shortTime(one.created_at),
              one.kind,
              one.status === 'failed' ? { text: one.status, style: 'red' } : one.status,
              one.amount === null ? one.asset : `${one.amount} ${one.asset}`,
              one.to,
              one.failure ?? one.tx_signature,
            ]),
          )
        if (next_cursor !== null) printer.note('There are more: --all shows everything.')
      },
    }
  },
})

function assetOf(text: string): string {
  if (/^(sol|usdc)$/i.test(text)) return text.toUpperCase()
  if (/^[1-9A-HJ-NP-Za-km-z]{32,44}$/.test(text)) return text
  throw new UsageError(`--asset is ${text}. Write SOL, USDC or the mint of a token.`)
}

export const withdraw = command({
  name: 'wallet withdraw',
  summary: 'Withdraw from the wallet of your agent to the address that its owner set',
  options: {
    asset: { type: 'string', required: true, value: 'SOL|USDC|mint', about: 'what to withdraw' },
    amount: { type: 'string', value: 'n', about: 'of the asset; everything unless given' },
  },
  run: async ({ values }, session) => {
    const asset = assetOf(required('asset', values.asset, 'market wallet withdraw --asset USDC'))
    const isCoin = asset === 'SOL' || asset === 'USDC'
    // The amount of a token can have more digits than a number holds exactly.
    const amount = isCoin ? decimal('amount', values.amount) : values.amount
    const { market } = session.signedIn('agent')
    const operation: Operation = await session.during('Waiting for Solana …', () =>
      market.withdraw({ asset, ...given({ amount }) }),
    )
    return {
      json: operation,
      print: (printer) => {
        const shown = `${operation.amount ?? 'everything'} ${asset} to ${operation.to}`
        printer.text(`Withdrawal ${operation.operation_id} is ${operation.status}: ${shown}.`)
        if (operation.status !== 'done') printer.next('market wallet operations')
      },
    }
  },
})
