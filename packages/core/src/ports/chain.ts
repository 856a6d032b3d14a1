import type { Usdc } from '@market/kernel/money'
import type { Network } from '@market/kernel/network'

/** The conditions a transfer must meet to pay for something. */
export interface TransferQuery {
  /** A Solana signature or an EVM transaction hash, not yet normalized. */
  readonly reference: string
  readonly minAmount: Usdc
  /** Keys of the wallets that may have paid. When this is absent any wallet may have, but only one in the transaction. */
  readonly payers?: readonly string[]
  readonly notBefore: Date
  readonly notAfter: Date
  /** Accept only a transfer that the payer sent. A transfer made with a signed authorization may belong to another purchase. */
  readonly sentByPayer?: true
  /**
   * The amount that is expected; `minAmount` when absent. Of several transfers in one transaction the smallest that
   * reaches it is taken, so that a bundle of payments does not pay one purchase with the money of another.
   */
  readonly expected?: Usdc
  /** Accept only this transfer of the transaction. */
  readonly index?: number
  /** Indexes of transfers that were used before. They are taken only when no other one reaches the amount. */
  readonly used?: readonly number[]
  /**
   * The newest final height of a network that is read at the moment. What a node does not show yet will be read within seconds, so
   * one node is asked, and only for what decides: not for what the payer attached, or whether a transaction waits to be included.
   */
  readonly readFinal?: bigint
}

/** A USDC transfer into the treasury, as observed on the chain. */
export interface IncomingTransfer {
  /** Normalized: lower case on EVM, unchanged on Solana. */
  readonly reference: string
  /**
   * Which of the transaction's transfers to the treasury it is, from 0. It stays the same when a reorganization moves the
   * transaction to another block. Solana: always 0, because only the change of the balance counts.
   */
  readonly index: number
  readonly amount: Usdc
  /** The wallet's key. Null when the payer cannot be determined. */
  readonly payer: string | null
  readonly at: Date
  /** Height or slot. The hash is compared later to detect a reorganization. */
  readonly block: { readonly height: bigint; readonly hash: string }
  /**
   * Whether as many providers as required agree that a reorganization can no longer remove it. Payouts are made only
   * against final transfers. A query of one node reports it only where one provider is enough.
   */
  readonly final: boolean
  /** Data that the payer added, in hex: the bytes after the call's arguments (EVM) or the only memo (Solana). */
  readonly attachedData: string | null
}

/** A USDC transfer out of the treasury, as observed on the chain. */
export interface ObservedOutgoingTransfer {
  readonly reference: string
  /** Which of the treasury’s payments in the transaction it is, from 0. */
  readonly index: number
  /** What names its payout (`markOf`): the memo on Solana, the nonce of the authorization on EVM. Null when nothing does. */
  readonly mark: string | null
  /** The receiving wallet. Null when there are several or it cannot be determined. */
  readonly payee: string | null
  readonly amount: Usdc
  readonly at: Date
  readonly block: { readonly height: bigint; readonly hash: string }
}

/** What moved into the treasury and out of it, oldest first. All of one transaction is together. */
export interface Movements {
  readonly incoming: readonly IncomingTransfer[]
  readonly outgoing: readonly ObservedOutgoingTransfer[]
}

/**
 * A final block. On Solana the height is the slot, and the hash is the newest signature up to there, empty where there is
 * none.
 */
export interface FinalBlock {
  readonly height: bigint
  readonly hash: string
  /** EVM: its time on the chain. */
  readonly at?: Date | undefined
}

/** EVM: until when, in block time, what the treasury has signed can be executed, and the newest height when it was asked. */
export interface SignedUntil {
  readonly until: Date
  readonly height: bigint
}

/** What moved in blocks that can still be replaced. */
export interface NewMovements extends Movements {
  readonly position: string
  /** The last block that was read to its end. */
  readonly height: bigint
  /** Whether it ends with the newest block. */
  readonly isEnd: boolean
  /** A reorganization replaced what was read before, so it begins again after the final block. */
  readonly isReplaced: boolean
}

/** What moved in the final blocks up to `to`, and what is there then. */
export interface FinalMovements extends Movements {
  readonly to: FinalBlock
  /** By how much all transfers of these blocks change the treasury, those of our own addresses too. */
  readonly change: bigint
  /** The USDC of the treasury after these blocks. Absent where nothing shows it: nodes keep only the newest final state. */
  readonly treasuryHeld?: Usdc | undefined
  /** That of the cold address, where there is one. */
  readonly coldHeld?: Usdc | undefined
}

/** What the providers of a network say together about the final blocks after one. */
export interface FinalReading {
  /** Exactly these movements are in the blocks up to `to`. Undefined while there are no new ones on which enough agree. */
  readonly agreed: FinalMovements | undefined
  /** Whether there are no further final blocks. */
  readonly isEnd: boolean
  /** The providers that contradict each other. */
  readonly disagreeing: readonly string[]
}

/** How many blocks confirm a transfer, and how many must; null while it waits for finality instead. */
export interface Depth {
  readonly confirmations: number
  readonly required: number | null
  /** The block that has it. */
  readonly height?: bigint
}

/** Result of one query. A node error throws `unavailable`; it never becomes `rejected`. */
export type Observation =
  | {
      readonly kind: 'ok'
      readonly transfer: IncomingTransfer
      /** The transaction has further transfers to the treasury. */
      readonly hasOthers?: true
    }
  | {
      readonly kind: 'pending'
      readonly reason: 'unknown' | 'in_mempool' | 'unconfirmed' | 'reorg'
      /** How deep an included transfer is, where the chain counts blocks. */
      readonly depth?: Depth
    }
  | {
      readonly kind: 'rejected'
      readonly reason:
        | 'bad_reference'
        | 'failed_on_chain'
        | 'no_transfer'
        | 'underpaid'
        | 'wrong_payer'
        | 'ambiguous_payer'
        | 'own_transfer'
        | 'sent_by_another'
        | 'too_old'
        | 'too_new'
      /** More about the reason, such as the amount that was transferred. */
      readonly detail?: string
    }

/** A recorded transfer that is compared with the chain again. */
export type RecordedTransfer = Pick<IncomingTransfer, 'reference' | 'index' | 'block' | 'payer' | 'amount'>

/** What the providers of a network say together about a recorded transfer. */
export interface TransferCheck {
  /**
   * `final`: as many providers as required show the same transfer in the same final block. `reversed`: as many have a
   * final chain that is past its block and does not contain it. `open`: neither, for example while a provider is behind.
   */
  readonly verdict: 'final' | 'reversed' | 'open'
  /** What one of the providers that decided shows; while it is open, of one that shows the transfer. */
  readonly observation: Observation
  /** The providers that contradict each other about the final chain. */
  readonly disagreeing: readonly string[]
}

/** At least as much, in the newest final block and in the newest block, is shown by as many providers as required. */
export interface AgreedBalance {
  readonly final: Usdc
  readonly latest: Usdc
}

/** Fewer providers than required answered and are up to date. The message names them and contains no URL. */
export class TooFewProviders extends Error {}

/** The networks that this process is connected to. */
export type Chains = Readonly<Partial<Record<Network, Chain>>>

/** Read access to one network. */
export interface Chain {
  readonly network: Network
  readonly treasury: string
  /** Where what the treasury need not hold is kept: an address whose key is on no server. Undefined without one. */
  readonly cold?: string | undefined
  /** Less is not sent: it costs more than it is worth. */
  readonly minPayout: Usdc
  /** Keys of addresses whose transfers into the treasury pay for nothing: the wallet of the venues and the vaults. */
  readonly ownPayers?: readonly string[]
  readonly usdc: string
  /** An address as users of the network write it; stored EVM addresses are in lower case. */
  displayAddress(address: string): string
  /** Queries one node, and others while it does not know the transaction. */
  findTransfer(query: TransferQuery): Promise<Observation>
  /**
   * How many blocks must confirm a transaction that pays so much to the treasury; null when it must be final. Absent where
   * only final blocks are read.
   */
  readonly confirmationsFor?: (paid: Usdc) => number | null
  /** Queries every provider. Throws `unavailable` when none answers. */
  checkTransfer(recorded: RecordedTransfer): Promise<TransferCheck>
  /** The final block after which the treasury is read, where nothing was read before. */
  startingBlock(): Promise<FinalBlock>
  /**
   * What moved after a final block and after a position, null where there is none, up to the newest block of one node. A later
   * block may replace these. `limit` counts transactions. The last page has `isEnd`; a node that is behind has no page. Absent
   * where only final blocks are read.
   */
  readonly movementsAfter?: (
    final: FinalBlock,
    position: string | null,
    limit: number,
  ) => Promise<NewMovements | undefined>
  /** Queries every provider for the final blocks after one. A long range is read in parts. Throws `TooFewProviders` or `unavailable`. */
  finalMovementsAfter(block: FinalBlock): Promise<FinalReading>
  /**
   * The newest final height, and the height after which transactions signed until now can no longer be executed. On EVM
   * the chain refuses to pay a payout twice, so `horizon` equals `final`, and what was signed can be executed until `alive`.
   */
  heights(): Promise<{ readonly final: bigint; readonly horizon: bigint; readonly alive?: SignedUntil }>
  /** USDC balance of an address. Throws `TooFewProviders`. */
  balanceOf(address: string): Promise<AgreedBalance>
  /**
   * USDC balances of many wallets at the newest final block, in the order of the addresses. Only on networks on which
   * agents have server wallets.
   */
  readonly finalBalancesOf?: (addresses: readonly string[]) => Promise<Usdc[]>
  /** Checks that every configured node serves this chain and has the USDC contract with 6 decimals. The error names the node. */
  checkNodes(): Promise<void>
}
