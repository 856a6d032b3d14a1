/** Hands a request to the node itself. */
export type SendRequest = (body: string) => Promise<string>
