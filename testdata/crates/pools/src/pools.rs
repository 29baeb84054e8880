//! The pools, by crate: a manager of connections that do nothing, and how a pool is opened.

use std::convert::Infallible;

use crate::known::SIZE;

/// A connection to nowhere.
#[derive(Debug, Default)]
pub struct Connection(#[allow(dead_code)] u64);

pub struct Connector;

/// Two versions of deadpool: a manager's functions are async in one and boxed in the other.
macro_rules! deadpool_pool {
    ($deadpool:ident) => {
        pub type Pool = ::$deadpool::managed::Pool<Connector>;
        pub type Connection = ::$deadpool::managed::Object<Connector>;

        pub fn open() -> Pool {
            Pool::builder(Connector).max_size(SIZE as usize).build().unwrap()
        }
    };
}

macro_rules! unmanaged_pool {
    ($deadpool:ident) => {
        pub type Pool = ::$deadpool::unmanaged::Pool<super::Connection>;
        pub type Connection = ::$deadpool::unmanaged::Object<super::Connection>;

        pub fn open() -> Pool {
            Pool::from((0..SIZE).map(|_| super::Connection::default()))
        }
    };
}

pub mod managed {
    use super::*;

    deadpool_pool!(deadpool);

    impl deadpool::managed::Manager for Connector {
        type Type = super::Connection;
        type Error = Infallible;

        async fn create(&self) -> Result<super::Connection, Infallible> {
            Ok(super::Connection::default())
        }

        async fn recycle(
            &self,
            _: &mut super::Connection,
            _: &deadpool::managed::Metrics,
        ) -> deadpool::managed::RecycleResult<Infallible> {
            Ok(())
        }
    }
}

pub mod managed_old {
    use super::*;

    deadpool_pool!(deadpool_old);

    #[async_trait::async_trait]
    impl deadpool_old::managed::Manager for Connector {
        type Type = super::Connection;
        type Error = Infallible;

        async fn create(&self) -> Result<super::Connection, Infallible> {
            Ok(super::Connection::default())
        }

        async fn recycle(
            &self,
            _: &mut super::Connection,
            _: &deadpool_old::managed::Metrics,
        ) -> deadpool_old::managed::RecycleResult<Infallible> {
            Ok(())
        }
    }
}

pub mod unmanaged {
    use super::*;

    unmanaged_pool!(deadpool);
}

pub mod unmanaged_old {
    use super::*;

    unmanaged_pool!(deadpool_old);
}

macro_rules! bb8_pool {
    ($bb8:ident) => {
        pub type Pool = ::$bb8::Pool<Connector>;
        pub type Connection = ::$bb8::PooledConnection<'static, Connector>;

        pub fn open() -> Pool {
            Pool::builder()
                .max_size(SIZE as u32)
                .connection_timeout(truth::FOREVER)
                .max_lifetime(None)
                .idle_timeout(None)
                .build_unchecked(Connector)
        }
    };
}

pub mod bb8 {
    use super::*;

    bb8_pool!(bb8);

    impl ::bb8::ManageConnection for Connector {
        type Connection = super::Connection;
        type Error = Infallible;

        async fn connect(&self) -> Result<super::Connection, Infallible> {
            Ok(super::Connection::default())
        }

        async fn is_valid(&self, _: &mut super::Connection) -> Result<(), Infallible> {
            Ok(())
        }

        fn has_broken(&self, _: &mut super::Connection) -> bool {
            false
        }
    }
}

pub mod bb8_old {
    use super::*;

    bb8_pool!(bb8_old);

    #[async_trait::async_trait]
    impl ::bb8_old::ManageConnection for Connector {
        type Connection = super::Connection;
        type Error = Infallible;

        async fn connect(&self) -> Result<super::Connection, Infallible> {
            Ok(super::Connection::default())
        }

        async fn is_valid(&self, _: &mut super::Connection) -> Result<(), Infallible> {
            Ok(())
        }

        fn has_broken(&self, _: &mut super::Connection) -> bool {
            false
        }
    }
}

macro_rules! mobc_pool {
    ($mobc:ident) => {
        pub type Pool = ::$mobc::Pool<Connector>;
        pub type Connection = ::$mobc::Connection<Connector>;

        pub fn open() -> Pool {
            Pool::builder().max_open(SIZE as u64).get_timeout(None).build(Connector)
        }

        #[async_trait::async_trait]
        impl ::$mobc::Manager for Connector {
            type Connection = super::Connection;
            type Error = Infallible;

            async fn connect(&self) -> Result<super::Connection, Infallible> {
                Ok(super::Connection::default())
            }

            async fn check(
                &self,
                connection: super::Connection,
            ) -> Result<super::Connection, Infallible> {
                Ok(connection)
            }
        }
    };
}

pub mod mobc {
    use super::*;

    mobc_pool!(mobc);
}

pub mod mobc_old {
    use super::*;

    mobc_pool!(mobc_old);
}
