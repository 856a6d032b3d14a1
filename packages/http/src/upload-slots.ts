import type { IncomingFile, Sender } from '@market/handlers/call'
import { type Network, networksOf } from '@market/handlers/networks'
import { ApiError } from '@market/kernel/api-error'

const RETRY_SECONDS = 5
const DEFAULT_MAX = 100
const MAX_PER_CALLER = 5

/** The part of all slots that the callers of one address or network may use at the same time. */
const SHARES: Readonly<Record<Network['kind'], number>> = { address: 0.1, 56: 0.2, 48: 0.4 }
/** The part of all slots that only callers with a paid order may use. */
const RESERVED = 0.25

interface Slots {
  readonly key: string
  readonly max: number
  readonly why: string
}

/** Limits how many files are received at the same time. A slot is taken when a file is first read, by a known caller. */
export function uploadSlots(max = DEFAULT_MAX) {
  const used = new Map<string, number>()

  /**
   * The slots that an upload needs. Callers with a paid order have networks of their own, so that others cannot use up
   * their slots.
   */
  const slotsOf = ({ name, hasPaidOrder }: Sender, address: string): Slots[] => [
    { key: name, max: MAX_PER_CALLER, why: `You are uploading ${MAX_PER_CALLER} files, the maximum.` },
    // fix: upload-networks
    ...networksOf(address).map(({ kind, subject }) => ({
      key: `${hasPaidOrder ? 'paid' : 'unpaid'} ${subject}`,
      max: Math.max(MAX_PER_CALLER, Math.ceil(max * SHARES[kind])),
      why: 'Too many files are being uploaded from your network.',
    })),
    // fix: upload-reserve
    ...(hasPaidOrder ? [] : [{ key: 'unpaid', max: max - Math.floor(max * RESERVED), why: BUSY }]),
    { key: 'all', max, why: BUSY },
  ]

  return (file: IncomingFile, address: string) => {
    let taken: readonly Slots[] = []
    return {
      file: {
        receive: async (sender: Sender) => {
          const slots = slotsOf(sender, address)
          const full = slots.find((one) => (used.get(one.key) ?? 0) >= one.max)
          if (full !== undefined) throw tooManyUploads(full.why)
          for (const { key } of slots) used.set(key, (used.get(key) ?? 0) + 1)
          taken = slots
          return file.receive(sender)
        },
      },
      end: () => {
        for (const { key } of taken) {
          const left = (used.get(key) ?? 1) - 1
          if (left === 0) used.delete(key)
          else used.set(key, left)
        }
        taken = []
      },
    }
  }
}

const BUSY = 'Too many files are being uploaded.'

const tooManyUploads = (why: string): ApiError =>
  new ApiError('unavailable', `${why} Try again in a few seconds.`, {
    code: 'too_many_uploads',
    retryAfterSeconds: RETRY_SECONDS,
  })
