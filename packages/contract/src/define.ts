import type { z } from 'zod'
import type { ErrorCode } from './error-codes.ts'
import type { LimitName } from './limits.ts'

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/** Who may call. `admin_key`: an operator's key, which only reads. `admin`: a signed-in operator. */
export type CallerKind = 'anonymous' | 'agent' | 'user' | 'wallet' | 'admin_key' | 'admin'

/** In the order of a reader: what users need first, operators last. */
export const GROUPS = [
  'Services',
  'Orders',
  'x402',
  'Agents',
  'Identity',
  'Bounties',
  'Files',
  'Events',
  'Wallets and tokens',
  'Swaps',
  'Earn',
  'Statistics',
  'Solvency',
  'Configuration',
  'Administration',
] as const
export type Group = (typeof GROUPS)[number]

export type ErrorStatus = 400 | 401 | 402 | 403 | 404 | 408 | 409 | 413 | 415 | 422 | 429 | 500 | 503

export type ErrorCodes = Readonly<Partial<Record<ErrorStatus, readonly ErrorCode[]>>>

export const SWITCHES = [
  'read_only',
  'freeze_intake',
  'freeze_payouts',
  'freeze_payouts_solana',
  'freeze_payouts_base',
  'freeze_payouts_alt',
  'freeze_wallets_solana',
  'freeze_venues',
] as const
export type SwitchName = (typeof SWITCHES)[number]

/** For what moves money: a stolen token of an older login is not enough. */
export const RECENT_LOGIN_SECONDS = 900

type Flat = z.ZodType<Record<string, unknown>, Record<string, unknown>>
type PathKeys<P extends string> = P extends `${string}{${infer K}}${infer R}` ? K | PathKeys<R> : never

/**
 * How an operation is paid with the request (x402). Without a payment the response is 402 with the requirements; with
 * one the response is the purchase.
 */
export interface Payment {
  /**
   * `always`: every request is a purchase. `without_credentials`: a request with a payment or without any credential is.
   * `requested`: a request with a payment is, and one with `pay=x402` or `pay_to_register`.
   */
  readonly when: 'always' | 'without_credentials' | 'requested'
  /** The x402 version of the 402 body. Version 2 clients read the `PAYMENT-REQUIRED` header, which version 1 lacks. */
  readonly version: 1 | 2
  /** Fields from the body, the query or `X-Market-Brief`. Only the query may have others, because proxies add to it. */
  readonly input: Flat
  readonly output: z.ZodType
  /** What a replay without an Idempotency-Key returns with 200 where `output` has secrets: a payment is public. */
  readonly replayOutput?: z.ZodType
}

/** The field of a form that contains a file. */
export interface FileField {
  readonly name: string
  readonly description: string
}

interface Route {
  readonly method: Method
  readonly path: string
  readonly summary: string
  /** Of this route, where it is not the operation's. */
  readonly limit?: LimitName
}

export interface Operation<
  Id extends string = string,
  P extends string = string,
  I extends Flat = Flat,
  O extends z.ZodType = z.ZodType,
  B extends z.ZodObject | undefined = z.ZodObject | undefined,
> {
  readonly id: Id
  readonly group: Group
  /** Where the reference shows it within its group: what people do first has the lowest number. */
  readonly position: number
  readonly method: Method
  readonly path: P
  /** Other routes of the same operation. */
  readonly alsoAt?: readonly Route[]
  readonly summary: string
  readonly description?: string
  /** Any one of these credentials is enough. Whether the caller owns the resource is checked by the command. */
  readonly callers: readonly [CallerKind, ...CallerKind[]]
  readonly limit: LimitName
  /** ONE flat object. Path keys come from the path, the rest from the query (GET, DELETE) or the body. */
  readonly input: I
  /** The schema of `data`. Fields that it does not list are removed from the response. */
  readonly output: O
  /** Top-level fields beside `data`. */
  readonly beside?: B
  /** The body is `data` itself, in a format that others define, instead of our envelope. */
  readonly isBare?: true
  /**
   * Everybody without a credential gets the same response to the same input: for how many seconds shared caches may serve
   * it. Each process serves it for a second too. Only a GET of `anonymous` without a secret in its input has this.
   */
  readonly cacheSeconds?: number
  readonly status?: 200 | 201 | 202
  /** The status when the work was accepted and is finished later. */
  readonly laterStatus?: 202
  readonly payment?: Payment
  /** The body is a form (multipart/form-data) with one file in this field. Credentials are sent as headers. */
  readonly file?: FileField
  /** Its own error codes. `errorsOf` adds those that follow from the other fields. */
  readonly errors?: ErrorCodes
  /**
   * What a wallet signs for this call, `{field}` filled from the request and `{me}` with the caller's own agent. Such a
   * signature counts once. Reads have none: they take a `session` signature, which may be repeated. So does ending sessions.
   */
  readonly purpose?: string
  /** Whether a wallet may sign in addition to another credential, for example to become the agent's owner. */
  readonly cosigned?: true
  /** Switches that stop this write, beside `read_only`, which stops them all. */
  readonly stoppedBy?: readonly (SwitchName & ErrorCode)[]
  /** Whether a user must have signed in at most `RECENT_LOGIN_SECONDS` ago. */
  readonly recentLogin?: true
  /** A POST that only reads, because its input may be too long for a URL. An `Idempotency-Key` is ignored. */
  readonly readsOnly?: true
  /**
   * Starts or ends the session of a browser and sets its cookie, which changes nothing of the marketplace, so that a session
   * can do it. Rejected from another site. An `Idempotency-Key` is ignored.
   */
  readonly setsCookie?: true
  /** Not stopped by `read_only`, so that an operator can turn the switch off. */
  readonly worksReadOnly?: true
}

/** What operators read, and what they do: only in a session, and only after a recent login. */
export const READ_BY_OPERATORS = {
  group: 'Administration',
  callers: ['admin_key', 'admin'],
  limit: 'read',
} as const
export const WRITE_BY_OPERATORS = {
  group: 'Administration',
  callers: ['admin'],
  limit: 'write',
  recentLogin: true,
} as const

export type InputOf<T extends Operation> = z.output<T['input']>

/** What a handler returns: `data`, and the top-level fields of `beside`. */
export type ResponseOf<T extends Operation> = {
  readonly data: z.input<T['output']>
  /** Only where the operation has a `laterStatus`. */
  readonly isLater?: boolean
  /** The cookie of a browser's session, where the operation `setsCookie`; without a token it is removed. */
  readonly cookie?: { readonly token?: string; readonly expiresAt?: Date }
} & (T['beside'] extends z.ZodObject ? z.input<T['beside']> : unknown)

/** Path keys must be keys of the input, or the program does not compile. */
export function operation<
  const Id extends string,
  const P extends string,
  I extends Flat,
  O extends z.ZodType,
  B extends z.ZodObject | undefined = undefined,
>(
  spec: Operation<Id, P, I, O, B> &
    (PathKeys<P> extends keyof z.input<I>
      ? unknown
      : { path: `the input lacks {${Exclude<PathKeys<P>, keyof z.input<I>> & string}}` }),
): Operation<Id, P, I, O, B> {
  return spec
}

/** Whether requests of the operation can change something: a purchase does, even by GET. */
export const isWrite = ({ method, payment, readsOnly, setsCookie }: Operation): boolean =>
  (method !== 'GET' && readsOnly !== true && setsCookie !== true) || payment !== undefined

/** The fields of the input that are in the path. */
export const pathKeysOf = ({ path }: Pick<Operation, 'path'>): string[] =>
  [...path.matchAll(/\{(\w+)\}/g)].map(([, key = '']) => key)

/** Whether the other fields are in the body. Otherwise they are in the query. */
export const hasBody = ({ method }: Pick<Operation, 'method'>): boolean =>
  method !== 'GET' && method !== 'DELETE'

/** The operation at each of its routes. The first one is described under the operation's own id. */
export const routesOf = (operation: Operation): readonly Operation[] => [
  operation,
  ...(operation.alsoAt ?? []).map((route) => ({ ...operation, ...route })),
]

/**
 * Names of schemas in the OpenAPI document. They are not in zod's registry, because an id there would turn the schemas
 * of tools into references.
 */
export const components = new Map<unknown, string>()

/** By name: how many bytes the JSON of what appears in lists of others can have at most. */
export const maxBytes = new Map<string, number>()

export function named<T extends z.ZodType>(name: string, schema: T, bytes?: number): T {
  components.set(schema, name)
  if (bytes !== undefined) maxBytes.set(name, bytes)
  return schema
}
