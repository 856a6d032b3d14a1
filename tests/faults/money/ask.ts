/** Hands a request to the node itself. */
export type Ask = (body: string) => Promise<string>
