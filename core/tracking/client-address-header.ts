/**
 * Response header of ingest's `/health/live`, for `hoplog doctor`: where the visitor's address comes from. `forwarded`:
 * from `X-Forwarded-For` of a trusted proxy. `peer-untrusted`: from the connection, although it sent that header.
 * Absent: the request had no such header.
 */
export const CLIENT_ADDRESS_HEADER = 'hoplog-client-address';
