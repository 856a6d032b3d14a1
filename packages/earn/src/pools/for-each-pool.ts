/** Does something with every pool at once. An error of one does not stop the others; all are thrown at the end. */
export async function forEachPool<T extends { readonly key: string }>(
  pools: readonly T[],
  done: 'opened' | 'read',
  work: (pool: T) => Promise<void>,
): Promise<void> {
  const results = await Promise.allSettled(pools.map(work))
  const errors = results.flatMap((result, n) =>
    result.status === 'rejected'
      ? [new Error(`The pool ${pools[n]?.key} could not be ${done}`, { cause: result.reason })]
      : [],
  )
  if (errors.length > 0)
    throw new AggregateError(errors, `${errors.length} of ${pools.length} pools could not be ${done}`)
}
