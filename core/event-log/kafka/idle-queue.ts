import RequestQueue from 'kafkajs/src/network/requestQueue/index.js';

/**
 * From its first answer on, each connection of kafkajs looks a thousand times a second, for as long as it is open,
 * whether a request waits (tulios/kafkajs#1704): 4 % of a core for an idle process, of the redirects' own core among
 * others. Here it looks while one waits. Who has to wait asks for a look itself, so none is forgotten.
 */
const look = RequestQueue.prototype.scheduleCheckPendingRequests;
RequestQueue.prototype.scheduleCheckPendingRequests = function (this: RequestQueue) {
  if (this.pending.length > 0) look.call(this);
};
