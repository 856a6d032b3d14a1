/** The bytes from `start` to `end`, both included. */
export interface ByteRange {
  readonly start: number
  readonly end: number
}

/**
 * Stores files by key. When the storage cannot be reached, every method rejects with the `ApiError` `storage_unavailable`
 * within its timeout.
 */
export interface ObjectStore {
  /**
   * Stores the bytes while they arrive, without holding more than a few megabytes of them. An error of `bytes` is thrown
   * again, and nothing is stored then.
   */
  put(key: string, bytes: AsyncIterable<Uint8Array>): Promise<void>
  /** Undefined when there is no such object. */
  get(key: string, range?: ByteRange): Promise<AsyncIterable<Uint8Array> | undefined>
  /** Deletes the object, if there is one. */
  delete(key: string): Promise<void>
}
