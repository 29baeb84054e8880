/* A future has one owner, whatever the variables that had it before look like. */
#ifndef RUNTIMES_INSPECT_ONE_OWNER_H
#define RUNTIMES_INSPECT_ONE_OWNER_H

#include "runtimes/model/model.h"

/*
 * Removes held futures that are what a move has left behind: those that lead to a future which some
 * frame polls, or which a newer owner has. Called once after all trees are decoded.
 */
void one_owner_resolve(struct snapshot *s);

#endif
