/** Hands a request to the node itself. */
export type RequestOptions = (body: string) => Promise<string>
